#include "core/loader/options/options_from_json.h"

#include "core/error.h"
#include "core/json_object.h"
#include "module_file/path_text.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace ferrule {
namespace {

// Refuses text with a NUL: the system and modules take C strings, and would ignore the rest.
std::string text_in(const char* function, const char* key, const nlohmann::json& value) {
  std::string text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) fail_argument("{}: {} holds a NUL: {}", function, key, shown(value));
  return text;
}

std::vector<std::string> strings(const nlohmann::json& options, const char* key) {
  std::vector<std::string> list;
  if (!options.contains(key) || options[key].is_null()) return list;
  if (!options[key].is_array()) fail_argument("load_all: '{}' is a list of strings, not {}", key, shown(options[key]));
  for (const auto& item : options[key]) {
    if (!item.is_string()) fail_argument("load_all: '{}' must hold strings, not {}", key, shown(item));
    list.push_back(text_in("load_all", key, item));
  }
  return list;
}

std::vector<std::filesystem::path> paths(const nlohmann::json& options, const char* key) {
  std::vector<std::filesystem::path> list;
  for (const std::string& text : strings(options, key)) list.push_back(path_from_text(text));
  return list;
}

// A string option; "" when it is absent.
std::string word(const char* function, const nlohmann::json& options, const char* key) {
  if (!options.contains(key) || options[key].is_null()) return "";
  if (!options[key].is_string()) fail_argument("{}: {} is a word, not {}", function, key, shown(options[key]));
  return text_in(function, key, options[key]);
}

bool flag(const char* function, const nlohmann::json& options, const char* key) {
  if (!options.contains(key) || options[key].is_null()) return false;
  if (!options[key].is_boolean()) fail_argument("{}: {} is true or false, not {}", function, key, shown(options[key]));
  return options[key].get<bool>();
}

// Parses the object in `text`; throws when it has a key that is not in `known`.
JsonDocument known_options(const char* function, const char* text, std::initializer_list<std::string_view> known) {
  JsonDocument json = parse_object(function, text);
  for (const auto& [key, value] : json->items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail_argument("{}: there is no option '{}'; it has: {}", function, key, fmt::join(known, ", "));
  return json;
}

Policy policy_from(const char* function, const nlohmann::json& json) {
  const std::string select = word(function, json, "select");
  return policy_of(select.empty() ? "manifest" : select, word(function, json, "probe"), word(function, json, "trust"),
                   flag(function, json, "reprobe"));
}

}  // namespace

LoadOptions load_all_options(const char* text) {
  const JsonDocument document = known_options(
      "load_all", text, {"dirs", "require", "only", "probe", "select", "trust", "reprobe", "extra_roots"});
  const nlohmann::json& json = *document;
  LoadOptions options;
  if (json.contains("dirs") && !json["dirs"].is_null()) options.dirs = paths(json, "dirs");
  options.require = strings(json, "require");
  options.only = strings(json, "only");
  options.extra_roots = paths(json, "extra_roots");
  options.policy = policy_from("load_all", json);
  return options;
}

FileOptions load_options(const char* text) {
  const JsonDocument json = known_options("load", text, {"probe", "trust", "reprobe", "as_name"});
  return {policy_from("load", *json), word("load", *json, "as_name")};
}

}  // namespace ferrule
