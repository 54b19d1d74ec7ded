#include "core/registry/missing_device.h"

#include "core/environment.h"
#include "base/edit_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <sstream>

namespace ferrule {
namespace {

// The backends of this project. It is no mistake to disable one that is not installed.
std::vector<std::string> own_backends() {
  std::istringstream text(FERRULE_BACKEND_NAMES);  // separated by commas
  std::vector<std::string> names;
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

std::vector<std::string> names_of(const std::vector<KnownModule>& modules) {
  std::vector<std::string> names;
  names.reserve(modules.size());
  for (const KnownModule& module : modules) names.push_back(module.name);
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The verb phrase for a module's state in a sentence: "found no device", "is disabled".
std::string verb_phrase(std::string_view state) {
  if (state == "no_device") return "found no device";
  if (state == "probe_failed") return "failed when it was tried in another process";
  if (state == "not_probed") return "was not tried in another process, and not opened";
  if (state == "error") return "does not work";
  return fmt::format("is {}", state);
}

// `kind` is the missing kind of device; "" when the backend itself is missing.
std::string clause_about(const KnownModule& module, std::string_view kind = "") {
  if (module.state == "loaded" && !kind.empty()) return fmt::format("{} drives no device of that kind", module.name);
  if (module.state == "loaded") return module.name + " is no longer loaded";
  const std::string clause = module.name + " " + verb_phrase(module.state);
  return module.reason.empty() ? clause : clause + ": " + module.reason;
}

std::string clauses_about(const std::vector<KnownModule>& modules, std::string_view kind = "") {
  constexpr std::size_t max_clauses = 4;
  std::vector<std::string> clauses;
  for (const KnownModule& module : modules) {
    if (clauses.size() == max_clauses) {
      clauses.push_back(fmt::format("and {} more", modules.size() - max_clauses));
      break;
    }
    clauses.push_back(clause_about(module, kind));
  }
  return joined(clauses, "; ");
}

// The reason when FERRULE_ONLY lists none of the names found: one is misspelt, or its module is not installed.
std::string reason_of_only(const std::vector<std::string>& names) {
  const std::vector<std::string> only = environment_names("FERRULE_ONLY");
  const auto is_found = [&](const std::string& name) { return contains(names, name); };
  if (only.empty() || std::any_of(only.begin(), only.end(), is_found)) return "";
  std::string reason = fmt::format("nothing matches FERRULE_ONLY={}; found {} {}", joined(only, ","),
                                   names.size() == 1 ? "is" : "are", joined(names));
  for (const std::string& name : only)
    if (const std::string meant = most_similar(name, names); !meant.empty())
      return fmt::format("{}; did you mean '{}'?", reason, meant);
  return reason;
}

}  // namespace

std::string reason_for_no_device(const LastLoad& load) {
  if (!load) {
    const bool is_off = environment("FERRULE_AUTOLOAD") == "0";
    return fmt::format("nothing has been loaded yet{}; load_all() looks for modules",
                       is_off ? ", and FERRULE_AUTOLOAD=0 keeps the first use of a device from doing it" : "");
  }
  if (load->empty()) return "no module was found; explain() says where they were looked for";
  if (std::string reason = reason_of_only(names_of(*load)); !reason.empty()) return reason;
  return clauses_about(*load);
}

std::string reason_for_no_backend(const LastLoad& load, std::string_view name) {
  if (!load) return "";
  const auto found =
      std::find_if(load->begin(), load->end(), [&](const KnownModule& module) { return module.name == name; });
  if (found != load->end()) return clause_about(*found);
  // Suggested only if the first letter is the same: "npu" and "tpu" are not misspellings of "cpu".
  const std::string meant = most_similar(name, names_of(*load));
  if (!meant.empty() && meant.front() == name.front()) return fmt::format("did you mean '{}'?", meant);
  return fmt::format("no module named {} was found", name);
}

std::string reason_for_no_kind(const LastLoad& load, std::string_view kind) {
  if (!load) return "";
  std::vector<KnownModule> others;
  for (const KnownModule& module : *load) {
    const bool is_listed = contains(module.device_kinds, kind);
    if (is_listed || (module.device_kinds.empty() && module.state != "loaded")) others.push_back(module);
  }
  if (others.empty()) return fmt::format("no module for devices of the kind {} was found", kind);
  return clauses_about(others, kind);
}

std::string warning_of_disabled(const LastLoad& load) {
  if (!load) return "";
  const std::vector<std::string> found = names_of(*load);
  std::vector<std::string> known = own_backends(), unknown;
  known.insert(known.end(), found.begin(), found.end());
  for (const std::string& name : environment_names("FERRULE_DISABLE"))
    if (!contains(known, name)) unknown.push_back(name);
  if (unknown.empty()) return "";
  std::string warning = fmt::format("FERRULE_DISABLE names {}, but no such backend was found; found: {}",
                                    joined(unknown), found.empty() ? "none" : joined(found));
  for (const std::string& name : unknown)
    if (const std::string meant = most_similar(name, known); !meant.empty())
      return fmt::format("{}; did you mean '{}'?", warning, meant);
  return warning;
}

}  // namespace ferrule
