// Why there is, or is not, a device of a kind.
#include "core/environment.h"
#include "core/loader/explain.h"
#include "core/registry/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ferrule {

std::optional<fe_device_kind> kind_to_explain(const LoadReport& report, std::string_view name) {
  const std::string wanted = lower_case(name.substr(0, name.find(':')));
  const auto is_named_so = [&](const LoadRow& row) { return row.name == wanted; };
  if (std::any_of(report.rows.begin(), report.rows.end(), is_named_so)) return std::nullopt;
  return device_kind(wanted);
}

std::string explain(const LoadReport& report, fe_device_kind kind) {
  std::vector<std::string> found;
  std::set<std::string> loaded, others;
  for (const auto& device : Registry::instance().devices())
    if (device->kind() == kind) found.push_back(fmt::format("{} ({})", device->name(), device->backend()->name()));
  if (!found.empty()) return fmt::format("{}: there is {}.", name_of(kind), joined(found));
  for (const auto& backend : Registry::instance().backends()) loaded.insert(backend->name());
  for (const LoadRow& row : report.rows)
    if (!row.name.empty()) others.insert(row.name);
  for (const std::string& name : loaded) others.erase(name);
  std::string text = fmt::format("{}: no loaded backend drives such a device; loaded is {}", name_of(kind),
                                 loaded.empty() ? "none" : joined({loaded.begin(), loaded.end()}));
  if (!others.empty())
    text += fmt::format(", and explain() says why these are not: {}", joined({others.begin(), others.end()}));
  return text + ".";
}

}  // namespace ferrule
