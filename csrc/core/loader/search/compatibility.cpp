#include "core/loader/search/compatibility.h"

#include "core/environment.h"
#include "core/platform/machine/cpu_features.h"
#include "core/platform/drivers/driver_version.h"
#include "core/platform/libraries/library_search.h"
#include "core/registry/abi_compatibility.h"
#include "core/registry/registry.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace ferrule {
namespace {

// A sentence that says why the driver cannot be used; "" when no problem is known.
std::string complaint_about_driver(const DriverNeed& need) {
  const std::string driver = "the " + (need.title.empty() ? "driver" : need.title);
  const auto path = find_library(need.library);
  if (!path && need.title.empty()) return "its driver's library " + need.library + " is not on this machine";
  if (!path)
    return fmt::format("{} is not installed: {} was not found{}", driver, need.library,
                       need.floor.empty() ? "" : fmt::format("; install version {} or newer", need.floor));
  // Opening such a file may end the process, with SIGBUS if the file is truncated.
  if (const std::string problem = damage_of_library(*path); !problem.empty())
    return fmt::format("{} is damaged: {}: {}; install it again", driver, path_to_text(*path), problem);
  if (need.floor.empty()) return "";
  const auto version = driver_version(need.library, need.version_file);
  if (!version || !is_older(*version, need.floor)) return "";
  return fmt::format("{} is {} ({}); it needs {} or newer", driver, *version, need.library, need.floor);
}

}  // namespace

void refuse_disabled(Candidate& candidate, const std::vector<std::string>& only) {
  if (candidate.is_refused || candidate.name().empty()) return;
  if (const std::string reason = disabled_reason(candidate.name()); !reason.empty())
    return candidate.refuse(LoadState::disabled, FE_UNSUPPORTED, reason);
  if (!only.empty() && std::find(only.begin(), only.end(), candidate.name()) == only.end())
    candidate.refuse(LoadState::disabled, FE_UNSUPPORTED, "only= does not name it");
}

void refuse_incompatible(Candidate& candidate) {
  if (candidate.is_refused) return;
  const auto incompatible = [&](fe_code code, const std::string& reason) {
    candidate.refuse(LoadState::incompatible, code, reason);
  };
  std::string complaint;
  if (candidate.image.abi)
    complaint = abi_complaint(*candidate.image.abi);
  else if (candidate.manifest)
    complaint = abi_complaint(candidate.manifest->abi);
  if (!complaint.empty()) return incompatible(FE_ABI_MISMATCH, complaint);
  if (!candidate.manifest) return;

  if (const auto missing = missing_cpu_features(candidate.manifest->cpu_features); !missing.empty())
    return incompatible(FE_UNSUPPORTED, "this CPU has no " + joined(missing));
  for (const DriverNeed& need : candidate.manifest->driver)
    if (const std::string problem = complaint_about_driver(need); !problem.empty())
      return incompatible(FE_UNSUPPORTED, problem);
}

std::vector<Candidate*> in_order_of_rank(const std::vector<Candidate*>& candidates) {
  std::vector<Candidate*> ordered = candidates;
  std::stable_sort(ordered.begin(), ordered.end(), [](const Candidate* a, const Candidate* b) {
    const int rank_a = a->row.rank.value_or(0), rank_b = b->row.rank.value_or(0);
    return rank_a != rank_b ? rank_a > rank_b : a->path.filename() < b->path.filename();
  });
  return ordered;
}

}  // namespace ferrule
