#include "core/loader/judge.h"

#include "core/environment.h"
#include "core/loader/cpu_features.h"
#include "core/loader/driver.h"
#include "core/registry/abi.h"
#include "core/registry/registry.h"

#include <algorithm>

namespace ferrule {

void judge_name(Candidate& candidate, const std::vector<std::string>& only) {
  if (candidate.is_refused || candidate.name().empty()) return;
  if (const std::string reason = disabled_reason(candidate.name()); !reason.empty())
    return candidate.refuse(LoadState::disabled, FE_UNSUPPORTED, reason);
  if (!only.empty() && std::find(only.begin(), only.end(), candidate.name()) == only.end())
    candidate.refuse(LoadState::disabled, FE_UNSUPPORTED, "only= does not name it");
}

void judge(Candidate& candidate) {
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
