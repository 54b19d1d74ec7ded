#include "core/loader/report/load_report.h"

#include "base/json_text.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ferrule {
namespace {

constexpr std::size_t longest_text = 500;  // bytes

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }
// Whether this is a continuation byte of a UTF-8 character.
bool is_later_byte(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

constexpr std::array state_names = {"loaded",     "outranked",    "disabled",  "incompatible", "unsafe",
                                    "not_probed", "probe_failed", "no_device", "error"};
static_assert(state_names.size() == static_cast<std::size_t>(LoadState::error) + 1);

void write(const LoadTimes& times, JsonText& json) {
  json.begin_object()
      .member("find", times.find)
      .member("read", times.read)
      .member("hash", times.hash)
      .member("probe", times.probe)
      .member("open", times.open)
      .member("init", times.init)
      .end_object();
}

void write(const LoadRow& row, JsonText& json) {
  json.begin_object()
      .member("path", row.path)
      .member("root", row.root)
      .member("name", row.name)
      .member("variant", row.variant)
      .member("version", row.version)
      .member("state", name_of(row.state))
      .member("reason", row.reason)
      .member("rank", row.rank)
      .member("score", row.score)
      .member("devices", row.devices)
      .member("probed", row.probed)
      .member("notes", row.notes)
      .member("output", row.output)
      .member("files", row.files)
      .key("times");
  write(row.times, json);
  json.member("milliseconds", row.times.sum()).end_object();
}

std::string number(const std::optional<int>& value) { return value ? std::to_string(*value) : ""; }

std::string title_of(const LoadRow& row) {
  if (row.name.empty()) return path_to_text(path_from_text(row.path).filename());
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

// Columns are as wide as their widest cell; numbers are right-aligned; lines have no trailing spaces.
std::string align(const Cells& cells, const std::array<std::size_t, 7>& widths) {
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

std::string as_report_text(std::string text) {
  if (text.size() > longest_text) {
    std::size_t end = longest_text;
    while (end > 0 && is_later_byte(text[end])) --end;
    text.resize(end);
    text += "...";
  }
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

const char* name_of(LoadState state) noexcept { return state_names[static_cast<std::size_t>(state)]; }

const LoadRow* LoadReport::loaded(std::string_view name) const {
  for (const LoadRow& row : rows)
    if (row.state == LoadState::loaded && row.name == name) return &row;
  return nullptr;
}

std::string to_json(const LoadReport& report) {
  JsonText json;
  json.begin_object().key("roots").begin_array();
  for (const LoadRoot& root : report.roots)
    json.begin_object()
        .member("path", root.path)
        .member("origin", root.origin)
        .member("candidates", root.candidates)
        .member("problem", root.problem)
        .end_object();
  json.end_array().key("candidates").begin_array();
  for (const LoadRow& row : report.rows) write(row, json);
  json.end_array().key("remaining").begin_array();
  for (const LeftoverModule& leftover : report.remaining)
    json.begin_object().member("path", leftover.path).member("reason", leftover.reason).end_object();
  json.end_array().key("policy").begin_object();
  json.member("select", name_of(report.policy.select))
      .member("probe", name_of(report.policy.probe))
      .member("trust", name_of(report.policy.trust))
      .end_object();
  json.key("times");
  write(report.times, json);
  json.member("milliseconds", report.milliseconds).end_object();
  return json.take();
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
  if (!report.rows.empty()) text += align(header, widths);

  const auto print_root = [&](const std::string& path, const std::string& title, const std::string& problem) {
    text += title + (problem.empty() ? "\n" : ": " + problem + "\n");
    for (const LoadRow& row : report.rows)
      if (row.root == path) {
        text += align(cells_of(row), widths);
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
  for (const LeftoverModule& leftover : report.remaining)
    text += fmt::format("unloaded, and still mapped: {}: {}\n", leftover.path, leftover.reason);
  return text;
}

}  // namespace ferrule
