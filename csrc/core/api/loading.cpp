// Loading.
#include "core/api/handles.h"
#include "core/api/json_arguments.h"
#include "core/lazy/array.h"
#include "core/loader/load.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

using namespace ferrule;

namespace {

std::vector<std::string> strings(const nlohmann::json& options, const char* key) {
  std::vector<std::string> list;
  if (!options.contains(key) || options[key].is_null()) return list;
  if (!options[key].is_array()) fail_argument("load_all: '{}' is a list of strings, not {}", key, options[key].dump());
  for (const auto& item : options[key]) {
    if (!item.is_string()) fail_argument("load_all: '{}' holds {}, which is no string", key, item.dump());
    list.push_back(item.get<std::string>());
  }
  return list;
}

std::vector<std::filesystem::path> paths(const nlohmann::json& options, const char* key) {
  std::vector<std::filesystem::path> list;
  for (const std::string& text : strings(options, key))
    list.emplace_back(std::u8string(reinterpret_cast<const char8_t*>(text.data()), text.size()));
  return list;
}

// A string of the options, "" when it is absent.
std::string word(const char* function, const nlohmann::json& options, const char* key) {
  if (!options.contains(key) || options[key].is_null()) return "";
  if (!options[key].is_string()) fail_argument("{}: {} is a word, not {}", function, key, options[key].dump());
  return options[key].get<std::string>();
}

bool flag(const char* function, const nlohmann::json& options, const char* key) {
  if (!options.contains(key) || options[key].is_null()) return false;
  if (!options[key].is_boolean()) fail_argument("{}: {} is true or false, not {}", function, key, options[key].dump());
  return options[key].get<bool>();
}

// The object in `text`, which may have these keys only.
nlohmann::json known_options(const char* function, const char* text, std::initializer_list<std::string_view> known) {
  nlohmann::json json = parse_object(function, text);
  for (const auto& [key, value] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail_argument("{}: there is no option '{}'; it has: {}", function, key, fmt::join(known, ", "));
  return json;
}

Policy policy_from(const char* function, const nlohmann::json& json) {
  const std::string select = word(function, json, "select");
  return policy_of(select.empty() ? "manifest" : select, word(function, json, "probe"), word(function, json, "trust"),
                   flag(function, json, "reprobe"));
}

LoadOptions options_from(const char* text) {
  const nlohmann::json json = known_options(
      "load_all", text, {"dirs", "require", "only", "probe", "select", "trust", "reprobe", "extra_roots"});
  LoadOptions options;
  if (json.contains("dirs") && !json["dirs"].is_null()) options.dirs = paths(json, "dirs");
  options.require = strings(json, "require");
  options.only = strings(json, "only");
  options.extra_roots = paths(json, "extra_roots");
  options.policy = policy_from("load_all", json);
  return options;
}

}  // namespace

extern "C" {

fe_error* fe_load_all(const char* options_json, fe_string** report_json) {
  return guarded([&] {
    LoadOptions options = options_from(options_json);
    const std::vector<std::string> require = std::exchange(options.require, {});
    const LoadReport report = load_all(options);
    if (report_json) *report_json = new fe_string{json_text(to_json(report))};
    for (const std::string& name : require) {
      if (Registry::instance().find_backend(name)) continue;
      std::string why;
      for (const LoadRow& row : report.rows)
        if (row.name == name)
          why += fmt::format("; {}: {}{}{}", row.path, name_of(row.state), row.reason.empty() ? "" : ", ", row.reason);
      fail(FE_NOT_FOUND, "backend '{}' is required, but not loaded{}", name,
           why.empty() ? ": no module of that name was found" : why);
    }
  });
}

fe_error* fe_load(const char* path, const char* options_json, fe_backend_ref** out) {
  return guarded([&] {
    const std::string text = &given(path, "load", "path");
    const Policy policy = policy_from("load", known_options("load", options_json, {"probe", "trust", "reprobe"}));
    auto backend =
        load(std::filesystem::path(std::u8string(reinterpret_cast<const char8_t*>(text.data()), text.size())), policy);
    if (out) *out = new fe_backend_ref{std::move(backend)};
  });
}

fe_error* fe_unload(const char* name) {
  return guarded([&] {
    given(name, "unload", "name");
    clear_compile_cache();
    Registry::instance().unload(name);
  });
}

fe_error* fe_reload(const char* name, fe_backend_ref** out) {
  return guarded([&] {
    given(name, "reload", "name");
    clear_compile_cache();
    auto backend = reload(name);
    if (out) *out = new fe_backend_ref{std::move(backend)};
  });
}

fe_error* fe_register(const fe_static_module* module, fe_backend_ref** out) {
  return guarded([&] {
    auto backend = Registry::instance().add(module);
    if (out) *out = new fe_backend_ref{std::move(backend)};
  });
}

fe_error* fe_shutdown(void) {
  return guarded([] {
    clear_compile_cache();
    Registry::instance().shutdown();
  });
}

fe_error* fe_refresh(void) {
  return guarded([] {
    // What was computed on a device that is retired now is not asked for again, and keeps it from being closed.
    if (Registry::instance().refresh()) clear_compile_cache();
  });
}

fe_error* fe_load_report_text(const char* report_json, fe_string** out) {
  return guarded([&] {
    given(report_json, "load_report_text", "report");
    give_text("load_report_text", out, to_text(report_from_json(parse_object("load_report_text", report_json))));
  });
}
}
