#include "core/api/load_report.h"

#include "core/api/handles.h"
#include "core/loader/report/explain.h"

#include <nlohmann/json.hpp>

using namespace ferrule;

namespace {

static_assert(static_cast<int>(LoadState::loaded) == FE_LOAD_LOADED &&
              static_cast<int>(LoadState::not_probed) == FE_LOAD_NOT_PROBED &&
              static_cast<int>(LoadState::error) == FE_LOAD_ERROR);

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

std::vector<fe_load_report::Lists> lists_of(const std::vector<LoadRow>& rows) {
  std::vector<fe_load_report::Lists> lists;
  lists.reserve(rows.size());
  for (const LoadRow& row : rows)
    lists.push_back({pointers_to(row.devices), pointers_to(row.notes), pointers_to(row.files)});
  return lists;
}

// File names and the output of modules may be invalid UTF-8; invalid bytes are replaced, as in JSON.
std::string as_utf8(std::string text) {
  const nlohmann::json given = std::move(text);
  return nlohmann::json::parse(given.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)).get<std::string>();
}

fe_load_times times_of(const LoadTimes& times) {
  return {times.find, times.read, times.hash, times.probe, times.open, times.init};
}

// Element `index` of a list of the report.
template <class Row>
const Row& row_at(const char* function, const std::vector<Row>& rows, size_t index) {
  if (index >= rows.size()) fail_argument("{}: index is {}, of {}", function, index, rows.size());
  return rows[index];
}

}  // namespace

fe_load_report::fe_load_report(LoadReport made) : report(std::move(made)), lists(lists_of(report.rows)) {}

extern "C" {

void fe_load_report_release(fe_load_report* report) { delete report; }

const char* fe_load_state_name(fe_load_state state) {
  return state >= 0 && state <= FE_LOAD_ERROR ? name_of(static_cast<LoadState>(state)) : nullptr;
}

fe_error* fe_load_report_info_get(const fe_load_report* handle, fe_load_report_info* out) {
  return guarded([&] {
    const LoadReport& report = given(handle, "load_report_info", "report").report;
    fe_load_report_info info{};
    info.root_count = report.roots.size();
    info.candidate_count = report.rows.size();
    info.remaining_count = report.remaining.size();
    info.select = name_of(report.policy.select);
    info.probe = name_of(report.policy.probe);
    info.trust = name_of(report.policy.trust);
    info.times = times_of(report.times);
    info.milliseconds = report.milliseconds;
    fill_struct("load_report_info", out, info);
  });
}

fe_error* fe_load_report_root(const fe_load_report* handle, size_t index, fe_load_root* out) {
  return guarded([&] {
    const LoadReport& report = given(handle, "load_report_root", "report").report;
    const LoadRoot& root = row_at("load_report_root", report.roots, index);
    fe_load_root info{};
    info.path = root.path.c_str();
    info.origin = root.origin.c_str();
    info.candidates = root.candidates;
    info.problem = root.problem.c_str();
    fill_struct("load_report_root", out, info);
  });
}

fe_error* fe_load_report_candidate(const fe_load_report* handle, size_t index, fe_load_candidate* out) {
  return guarded([&] {
    const fe_load_report& of = given(handle, "load_report_candidate", "report");
    const LoadRow& row = row_at("load_report_candidate", of.report.rows, index);
    const fe_load_report::Lists& lists = of.lists[index];
    fe_load_candidate info{};
    info.path = row.path.c_str();
    info.root = row.root.c_str();
    info.name = row.name.c_str();
    info.variant = row.variant.c_str();
    info.version = row.version.c_str();
    info.state = static_cast<fe_load_state>(row.state);
    info.reason = row.reason.c_str();
    info.has_rank = row.rank.has_value();
    info.rank = row.rank.value_or(0);
    info.has_score = row.score.has_value();
    info.score = row.score.value_or(0);
    info.devices = lists.devices.data();
    info.device_count = lists.devices.size();
    info.probed = row.probed.c_str();
    info.notes = lists.notes.data();
    info.note_count = lists.notes.size();
    info.output = row.output.c_str();
    info.files = lists.files.data();
    info.file_count = lists.files.size();
    info.times = times_of(row.times);
    fill_struct("load_report_candidate", out, info);
  });
}

fe_error* fe_load_report_remaining(const fe_load_report* handle, size_t index, const char** path, const char** reason) {
  return guarded([&] {
    const LoadReport& report = given(handle, "load_report_remaining", "report").report;
    const LeftoverModule& leftover = row_at("load_report_remaining", report.remaining, index);
    given(path, "load_report_remaining", "path") = leftover.path.c_str();
    given(reason, "load_report_remaining", "reason") = leftover.reason.c_str();
  });
}

fe_error* fe_load_report_format(const fe_load_report* handle, const char* format, fe_string** out) {
  return guarded([&] {
    const LoadReport& report = given(handle, "load_report_format", "report").report;
    const std::string wanted = &given(format, "load_report_format", "format");
    if (wanted != "text" && wanted != "json")
      fail_argument("load_report_format: format is 'text' or 'json', not '{}'", wanted);
    give_text("load_report_format", out, wanted == "text" ? as_utf8(to_text(report)) : to_json(report));
  });
}

fe_error* fe_load_report_explain(const fe_load_report* handle, const char* name, const char* const* versions,
                                 fe_string** out) {
  return guarded([&] {
    const LoadReport* report = &given(handle, "load_report_explain", "report").report;
    const std::string wanted = &given(name, "load_report_explain", "name");
    LoadReport with_versions;
    if (versions) {
      with_versions = *report;
      for (size_t i = 0; i < with_versions.rows.size(); ++i)
        if (with_versions.rows[i].version.empty() && versions[i]) with_versions.rows[i].version = versions[i];
      report = &with_versions;
    }
    const auto kind = kind_to_explain(*report, wanted);
    give_text("load_report_explain", out, as_utf8(kind ? explain(*report, *kind) : explain(*report, wanted)));
  });
}
}
