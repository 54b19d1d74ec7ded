#include "core/loader/report/explain.h"

#include "core/environment.h"
#include "core/registry/device_kind.h"
#include "core/registry/registry.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

std::string file_name(const LoadRow& row) { return path_to_text(path_from_text(row.path).filename()); }

// A row without a name, whose file name could not be parsed, matches by the beginning of its file name.
bool is_about(const LoadRow& row, const std::string& name) {
  if (!row.name.empty()) return lower_case(row.name) == name;
  const std::string file = lower_case(file_name(row)), prefix = "ferrule-" + name;
  return file.starts_with(prefix) || file.starts_with("lib" + prefix);
}

// The last step of a load that the candidate reached.
int stage_of(const LoadRow& row) {
  switch (row.state) {
    case LoadState::outranked:
      return 0;
    case LoadState::disabled:
      return 1;
    case LoadState::unsafe:
      return 2;
    case LoadState::error:
      return row.times.init > 0 ? 8 : row.times.open > 0 ? 7 : 3;
    case LoadState::incompatible:
      return 4;
    case LoadState::not_probed:
      return 5;
    case LoadState::probe_failed:
      return 6;
    case LoadState::no_device:
      return 9;
    case LoadState::loaded:
      return 10;
  }
  return 0;
}

// Removes line breaks and a final full stop, which reasons from modules may have.
std::string as_clause(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

// The first half of the sentence: what is installed, and where.
std::string presence(const LoadRow& row) {
  if (row.root == "static") return "it is linked into the program";
  if (row.version.empty()) return row.path + " is there";
  const std::string variant = row.variant.empty() ? "" : "-" + row.variant;
  return fmt::format("ferrule-{}{} {} is installed ({})", row.name, variant, row.version, row.path);
}

std::string loaded_clause(const LoadRow& row) {
  std::string from = row.root == "static" ? "it is linked into the program" : "it is loaded from " + row.path;
  if (!row.version.empty()) from += ", version " + row.version;
  from += row.devices.empty() ? ", and has no device" : ", and drives " + joined(row.devices);
  if (!row.notes.empty()) from += "; " + as_clause(row.notes.front());
  return from;
}

std::string clause_of(const LoadRow& row) {
  std::string there = presence(row), reason = as_clause(row.reason);
  const auto but = [&](std::string_view what) {
    return reason.empty() ? fmt::format("{}, but {}", there, what) : fmt::format("{}, but {}: {}", there, what, reason);
  };
  switch (row.state) {
    case LoadState::loaded:
      return loaded_clause(row);
    case LoadState::outranked:
      return but("another is preferred");
    case LoadState::disabled:
      return but("it is switched off");
    case LoadState::incompatible:
      return but("it cannot run here");
    case LoadState::unsafe:
      return but("it is not safe to open");
    case LoadState::not_probed:
      return but("it was not opened, because nothing could probe it first");
    case LoadState::probe_failed:
      return but("it failed in the process that tried it");
    case LoadState::no_device:
      return but("it found no device to drive");
    case LoadState::error:
      return but(stage_of(row) > 3 ? "it failed while it was opened" : "it cannot be opened");
  }
  return there;
}

std::string describe(const LoadRoot& root) {
  std::string text = root.path == root.origin ? root.path : fmt::format("{} ({})", root.path, root.origin);
  return root.problem.empty() ? text : fmt::format("{}, where {}", text, as_clause(root.problem));
}

std::string not_found(const LoadReport& report) {
  if (report.roots.empty()) return "no module of that name was found, and there was no folder to look into";
  std::vector<std::string> places;
  places.reserve(report.roots.size());
  for (const LoadRoot& root : report.roots) places.push_back(describe(root));
  return "no module of that name was found in " + joined(places, "; ");
}

}  // namespace

const LoadRow* furthest_row(const LoadReport& report, std::string_view name) {
  const std::string wanted = lower_case(name.substr(0, name.find(':')));
  const LoadRow* furthest = nullptr;
  for (const LoadRow& row : report.rows)
    if (is_about(row, wanted) && (furthest == nullptr || stage_of(row) > stage_of(*furthest))) furthest = &row;
  return furthest;
}

std::string explain(const LoadReport& report, std::string_view name) {
  const std::string wanted = lower_case(name.substr(0, name.find(':')));
  const LoadRow* furthest = furthest_row(report, name);
  const auto others =
      std::count_if(report.rows.begin(), report.rows.end(), [&](const LoadRow& row) { return is_about(row, wanted); }) -
      1;
  if (furthest == nullptr) return fmt::format("{}: {}.", wanted, not_found(report));
  std::string text = clause_of(*furthest);
  if (others > 0 && furthest->state != LoadState::loaded)
    text += fmt::format(" ({} more of that name got no further)", others);
  return fmt::format("{}: {}{}", wanted, text, text.ends_with('?') ? "" : ".");
}

std::optional<fe_device_kind> kind_to_explain(const LoadReport& report, std::string_view name) {
  const std::string wanted = lower_case(name.substr(0, name.find(':')));
  const auto is_named_so = [&](const LoadRow& row) { return row.name == wanted; };
  if (std::any_of(report.rows.begin(), report.rows.end(), is_named_so)) return std::nullopt;
  return device_kind(wanted);
}

std::string explain(const LoadReport& report, fe_device_kind kind) {
  std::vector<std::string> found;
  std::set<std::string> loaded, others;  // others: that are not loaded, and may drive such devices
  for (const auto& device : Registry::instance().devices())
    if (device->kind() == kind) found.push_back(fmt::format("{} ({})", device->name(), device->backend()->name()));
  if (!found.empty()) return fmt::format("{}: there is {}.", name_of(kind), joined(found));
  for (const auto& backend : Registry::instance().backends()) loaded.insert(backend->name());
  for (const LoadRow& row : report.rows) {
    const bool is_listed =
        std::find(row.device_kinds.begin(), row.device_kinds.end(), name_of(kind)) != row.device_kinds.end();
    if (!row.name.empty() && (is_listed || row.device_kinds.empty())) others.insert(row.name);
  }
  for (const std::string& name : loaded) others.erase(name);
  std::string text = fmt::format("{}: no loaded backend drives such a device; loaded is {}", name_of(kind),
                                 loaded.empty() ? "none" : joined({loaded.begin(), loaded.end()}));
  for (const std::string& name : others)
    if (const LoadRow* row = furthest_row(report, name)) text += fmt::format("; {}: {}", name, clause_of(*row));
  return text + ".";
}

}  // namespace ferrule
