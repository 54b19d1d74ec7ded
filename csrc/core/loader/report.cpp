#include "core/loader/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ferrule {
namespace {

using nlohmann::json;

constexpr std::array state_names = {"loaded",     "outranked",    "disabled",  "incompatible", "unsafe",
                                    "not_probed", "probe_failed", "no_device", "error"};
static_assert(state_names.size() == static_cast<std::size_t>(LoadState::error) + 1);

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json to_json(const LoadTimes& times) {
  return {{"find", times.find},   {"read", times.read}, {"hash", times.hash},
          {"probe", times.probe}, {"open", times.open}, {"init", times.init}};
}

json to_json(const LoadRow& row) {
  return {{"path", row.path},
          {"root", row.root},
          {"name", row.name},
          {"variant", row.variant},
          {"version", row.version},
          {"state", name_of(row.state)},
          {"reason", row.reason},
          {"rank", or_null(row.rank)},
          {"score", or_null(row.score)},
          {"devices", row.devices},
          {"probed", row.probed},
          {"notes", row.notes},
          {"output", row.output},
          {"files", row.files},
          {"times", to_json(row.times)},
          {"milliseconds", row.times.sum()}};
}

std::string number(const std::optional<int>& value) { return value ? std::to_string(*value) : ""; }

std::string title_of(const LoadRow& row) {
  if (row.name.empty()) return std::filesystem::path(row.path).filename().string();
  return row.variant.empty() ? row.name : row.name + "-" + row.variant;
}

using Cells = std::array<std::string, 7>;

Cells cells_of(const LoadRow& row) {
  const std::string time = row.times.sum() > 0 ? fmt::format("{:.1f}", row.times.sum()) : "";
  return {"  " + title_of(row),
          name_of(row.state),
          number(row.rank),
          number(row.score),
          fmt::format("{}", fmt::join(row.devices, " ")),
          time,
          row.reason};
}

constexpr bool is_number(std::size_t column) { return column == 2 || column == 3 || column == 5; }

// Columns as wide as their widest cell; numbers to the right; nothing behind the last word of a line.
std::string aligned(const Cells& cells, const std::array<std::size_t, 7>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    line += is_number(i) ? fmt::format("{:>{}}", cells[i], widths[i]) : fmt::format("{:<{}}", cells[i], widths[i]);
    line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string summary(const LoadReport& report) {
  const auto is_loaded = [](const LoadRow& row) { return row.state == LoadState::loaded; };
  const auto loaded = std::count_if(report.rows.begin(), report.rows.end(), is_loaded);
  const LoadTimes& times = report.times;
  const std::pair<const char*, double> steps[] = {{"finding", times.find}, {"reading", times.read},
                                                  {"hashing", times.hash}, {"probing", times.probe},
                                                  {"opening", times.open}, {"initialising", times.init}};
  std::vector<std::string> parts;
  for (const auto& [step, milliseconds] : steps)
    if (milliseconds >= 0.05) parts.push_back(fmt::format("{} {:.1f}", step, milliseconds));
  return fmt::format("{} of {} modules loaded in {:.1f} ms{}\n", loaded, report.rows.size(), report.milliseconds,
                     parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", ")));
}

}  // namespace

const char* name_of(LoadState state) noexcept { return state_names[static_cast<std::size_t>(state)]; }

const LoadRow* LoadReport::loaded(std::string_view name) const {
  for (const LoadRow& row : rows)
    if (row.state == LoadState::loaded && row.name == name) return &row;
  return nullptr;
}

json to_json(const LoadReport& report) {
  json roots = json::array(), rows = json::array(), remaining = json::array();
  for (const LoadRoot& root : report.roots)
    roots.push_back(
        {{"path", root.path}, {"origin", root.origin}, {"candidates", root.candidates}, {"problem", root.problem}});
  for (const LoadRow& row : report.rows) rows.push_back(to_json(row));
  for (const Remnant& remnant : report.remaining)
    remaining.push_back({{"path", remnant.path}, {"reason", remnant.reason}});
  json policy = {{"select", name_of(report.policy.select)},
                 {"probe", name_of(report.policy.probe)},
                 {"trust", name_of(report.policy.trust)}};
  return {{"roots", std::move(roots)},   {"candidates", std::move(rows)},  {"remaining", std::move(remaining)},
          {"policy", std::move(policy)}, {"times", to_json(report.times)}, {"milliseconds", report.milliseconds}};
}

std::string to_text(const LoadReport& report) {
  const Cells header = {"  module", "state", "rank", "score", "devices", "ms", "why"};
  std::array<std::size_t, 7> widths{};
  for (const LoadRow& row : report.rows) {
    const Cells cells = cells_of(row);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (!cells[i].empty()) widths[i] = std::max({widths[i], cells[i].size(), header[i].size()});
  }
  std::string text = summary(report);
  if (!report.rows.empty()) text += aligned(header, widths);

  const auto print_root = [&](const std::string& path, const std::string& title, const std::string& problem) {
    text += title + (problem.empty() ? "\n" : ": " + problem + "\n");
    for (const LoadRow& row : report.rows)
      if (row.root == path) {
        text += aligned(cells_of(row), widths);
        for (const std::string& note : row.notes) text += "      note: " + note + "\n";
      }
  };
  const auto has_rows = [&](std::string_view root) {
    return std::any_of(report.rows.begin(), report.rows.end(), [&](const LoadRow& row) { return row.root == root; });
  };
  if (has_rows("static")) print_root("static", "linked into the program", "");
  if (has_rows("")) print_root("", "loaded before", "");
  for (const LoadRoot& root : report.roots) {
    const std::string title = root.path == root.origin ? root.path : root.path + " (" + root.origin + ")";
    print_root(root.path, title, root.problem.empty() && root.candidates == 0 ? "no modules" : root.problem);
  }
  for (const Remnant& remnant : report.remaining)
    text += fmt::format("unloaded, and still mapped: {}: {}\n", remnant.path, remnant.reason);
  return text;
}

}  // namespace ferrule
