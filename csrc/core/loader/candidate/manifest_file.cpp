#include "core/loader/candidate/manifest_file.h"

#include "core/error.h"
#include "core/json_object.h"
#include "core/registry/device_kind.h"

#include <algorithm>
#include <charconv>

namespace ferrule {
namespace {

using nlohmann::json;

// The value of a key, or null when it is absent and not needed.
const json* find(const json& object, const char* key, bool is_needed) {
  const auto found = object.find(key);
  if (found != object.end()) return &*found;
  if (is_needed) fail_argument("'{}' is missing", key);
  return nullptr;
}

std::string string_in(const json& object, const char* key, bool is_needed) {
  const json* value = find(object, key, is_needed);
  if (value == nullptr) return "";
  if (!value->is_string()) fail_argument("'{}' is not a string", key);
  return value->get<std::string>();
}

template <class Integer>
Integer integer_in(const json& object, const char* key, bool is_needed) {
  const json* value = find(object, key, is_needed);
  if (value == nullptr) return 0;
  if (const auto number = whole_number<Integer>(*value)) return *number;
  fail_argument("'{}' is {}, which is not an integer in range", key, shown(*value));
}

std::vector<std::string> strings_in(const json& object, const char* key) {
  std::vector<std::string> strings;
  const json* value = find(object, key, false);
  if (value == nullptr) return strings;
  if (!value->is_array()) fail_argument("'{}' is not a list of strings", key);
  for (const json& element : *value) {
    if (!element.is_string()) fail_argument("'{}' is not a list of strings", key);
    strings.push_back(element.get<std::string>());
  }
  return strings;
}

uint64_t hash_from(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  if (text.starts_with("0x")) {
    const auto [stop, problem] = std::from_chars(text.data() + 2, end, value, 16);
    if (problem == std::errc() && stop == end) return value;
  }
  fail_argument("'layout_hashes' has {}, which is not a number such as 0x0123456789abcdef", shown(text));
}

module_file::AbiVersion abi_in(const json& object) {
  const json& abi = *find(object, "abi", true);
  if (!abi.is_object()) fail_argument("'abi' is not an object");
  module_file::AbiVersion version{
      integer_in<uint32_t>(abi, "major", true), integer_in<uint32_t>(abi, "minor", true), {}};
  for (const std::string& hash : strings_in(abi, "layout_hashes")) version.layout_hashes.push_back(hash_from(hash));
  const std::size_t count = version.layout_hashes.size();
  if (count == 0 || count > FE_ABI_MOST_HASHES || count - 1 > version.minor)
    fail_argument("'layout_hashes' lists {} hashes, and must list 1 to {}", count,
                  std::min<uint64_t>(uint64_t{version.minor} + 1, FE_ABI_MOST_HASHES));
  return version;
}

void check_version(const std::string& text, const char* key) {
  const bool is_dotted = !text.empty() && text.front() != '.' && text.back() != '.' &&
                         text.find_first_not_of("0123456789.") == std::string::npos &&
                         text.find("..") == std::string::npos;
  if (!is_dotted) fail_argument("'{}' is {}, and not a version like 550.54", key, shown(text));
}

DriverNeed driver_from(const json& entry) {
  if (entry.is_string()) return {.library = entry.get<std::string>()};
  if (!entry.is_object()) fail_argument("'driver' is not a list of strings and objects");
  DriverNeed need{.library = string_in(entry, "library", true),
                  .title = string_in(entry, "title", false),
                  .floor = string_in(entry, "floor", false),
                  .version_file = string_in(entry, "version_file", false),
                  .variables = strings_in(entry, "variables"),
                  .file_variables = strings_in(entry, "file_variables"),
                  .folders = strings_in(entry, "folders"),
                  .state_files = strings_in(entry, "state_files")};
  if (entry.contains("floor")) check_version(need.floor, "floor");
  // A manifest may name files of other systems, so "/proc/version" is good on Windows, too.
  if (!need.version_file.empty() && !std::filesystem::path(need.version_file).has_root_directory())
    fail_argument("'version_file' is {}, and must be an absolute path", shown(need.version_file));
  for (const std::string& file : need.state_files)
    if (!std::filesystem::path(file).has_root_directory())
      fail_argument("'state_files' has {}, and must have absolute paths", shown(file));
  for (const std::string& folder : need.folders)
    if (folder.empty() || std::filesystem::path(folder).has_root_path())
      fail_argument("'folders' has {}, and must have relative paths", shown(folder));
  return need;
}

std::vector<DriverNeed> drivers_in(const json& object) {
  std::vector<DriverNeed> needs;
  const json* value = find(object, "driver", false);
  if (value == nullptr) return needs;
  if (!value->is_array()) fail_argument("'driver' is not a list of strings and objects");
  for (const json& entry : *value) {
    needs.push_back(driver_from(entry));
    if (needs.back().library.empty()) fail_argument("'driver' names a library that has no name");
  }
  return needs;
}

std::string sha256_in(const json& object, const char* key) {
  std::string hash = string_in(object, key, true);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hash.size() != 64 || !std::all_of(hash.begin(), hash.end(), is_digit))
    fail_argument("'{}' is not 64 hexadecimal digits in lower case", key);
  return hash;
}

std::map<std::string, std::string> libraries_in(const json& object) {
  std::map<std::string, std::string> libraries;
  const json* value = find(object, "libraries", false);
  if (value == nullptr) return libraries;
  if (!value->is_object()) fail_argument("'libraries' is not an object of hashes");
  for (const auto& [path, hash] : value->items()) libraries[path] = sha256_in(*value, path.c_str());
  return libraries;
}

Manifest read(const json& object) {
  if (!object.is_object()) fail_argument("it is not an object");
  Manifest manifest;
  manifest.name = string_in(object, "name", true);
  manifest.variant = string_in(object, "variant", false);
  manifest.version = string_in(object, "version", false);
  manifest.device_kinds = strings_in(object, "device_kinds");
  for (const std::string& kind : manifest.device_kinds)
    if (!device_kind(kind)) fail_argument("'device_kinds' names {}, which is not a device kind", shown(kind));
  manifest.abi = abi_in(object);
  manifest.sha256 = sha256_in(object, "sha256");
  if (object.contains("code_sha256")) manifest.code_sha256 = sha256_in(object, "code_sha256");
  manifest.size = integer_in<uint64_t>(object, "size", true);
  manifest.libraries = libraries_in(object);
  manifest.rank = integer_in<int>(object, "rank", false);
  manifest.preference = integer_in<int>(object, "preference", false);
  manifest.cpu_features = strings_in(object, "cpu_features");
  manifest.driver = drivers_in(object);
  manifest.architectures = strings_in(object, "architectures");
  manifest.ops = strings_in(object, "ops");
  return manifest;
}

}  // namespace

std::filesystem::path manifest_path(const std::filesystem::path& module) {
  return std::filesystem::path(module).replace_extension(".json");
}

Manifest parse_manifest(const std::string& text) { return read(*parse_json(text)); }

}  // namespace ferrule
