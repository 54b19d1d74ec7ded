#include "core/platform/drivers/driver_files.h"

#include "core/environment.h"
#include "core/error.h"
#include "core/json_object.h"
#include "core/platform/files/folders.h"
#include "core/platform/libraries/library_search.h"
#include "module_file/file_bytes.h"
#include "module_file/path_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t largest_manifest = 1 << 20;  // bytes; a larger file is not parsed, only its identity is recorded
constexpr std::size_t max_files = 256;          // per folder

// Adds the paths of an environment variable, or the defaults of the XDG standard when it is unset.
void add_list(std::vector<fs::path>& bases, const char* variable, std::vector<fs::path> otherwise) {
  std::vector<fs::path> named = environment_paths(variable);
  if (named.empty()) named = std::move(otherwise);
  for (fs::path& path : named) bases.emplace_back(std::move(path));
}

// The XDG base folders of configuration, then of data; the user's own come first in each.
std::vector<fs::path> base_folders() {
  std::vector<fs::path> bases;
  const auto in_home = [](const char* folder) {
    const fs::path home = environment_path("HOME");
    return home.empty() ? std::vector<fs::path>() : std::vector<fs::path>{home / folder};
  };
  add_list(bases, "XDG_CONFIG_HOME", in_home(".config"));
  add_list(bases, "XDG_CONFIG_DIRS", {"/etc/xdg"});
  for (const char* folder : {"/etc", "/usr/local/etc"}) bases.emplace_back(folder);
  add_list(bases, "XDG_DATA_HOME", in_home(".local/share"));
  add_list(bases, "XDG_DATA_DIRS", {"/usr/local/share", "/usr/share"});
  return bases;
}

std::string numbers_of(const fs::path& path) {
  std::error_code problem;
  const fs::path real = fs::canonical(path, problem);
  const auto identity = problem ? std::nullopt : module_file::FileBytes::identity_at(real);
  if (!identity) return "absent";
  return fmt::format("{} {} {} {} {} {}", path_to_text(real), identity->device, identity->inode, identity->size,
                     identity->modified_ns, identity->changed_ns);
}

// Resolves a path relative to the manifest's folder; a plain name is looked up as the system's loader does.
fs::path path_of_library(const std::string& named, const fs::path& manifest) {
  fs::path path = path_from_text(named);
  if (path.is_absolute()) return path;
  if (named.find_first_of("/\\") != std::string::npos) return manifest.parent_path() / path;
  return find_library(named).value_or(path);
}

void add_libraries(const nlohmann::json& owner, std::vector<std::string>& libraries) {
  if (!owner.is_object()) return;
  if (const auto found = owner.find("library_path"); found != owner.end() && found->is_string())
    libraries.push_back(found->get<std::string>());
}

// The "library_path" entries of a driver or layer manifest. Entries that are not strings are ignored.
std::vector<std::string> libraries_named_in(const fs::path& manifest) {
  std::vector<std::string> libraries;
  module_file::FileBytes file(manifest);
  if (!file.is_open() || file.size() > largest_manifest) return libraries;
  try {
    const JsonDocument document = parse_json(file.text().value_or(""));
    const nlohmann::json& json = *document;
    if (!json.is_object()) return libraries;
    for (const char* key : {"ICD", "layer"})
      if (const auto found = json.find(key); found != json.end()) add_libraries(*found, libraries);
    if (const auto found = json.find("layers"); found != json.end() && found->is_array())
      for (const nlohmann::json& layer : *found) add_libraries(layer, libraries);
  } catch (const Error&) {
    // The driver loader ignores a manifest that is not JSON, too.
  }
  return libraries;
}

void add_manifest(const fs::path& manifest, std::string& state) {
  state += fmt::format("{} {}\n", path_to_text(manifest), numbers_of(manifest));
  for (const std::string& library : libraries_named_in(manifest))
    state += fmt::format("  {} {}\n", library, numbers_of(path_of_library(library, manifest)));
}

std::vector<fs::path> manifests_in(const fs::path& folder) {
  std::vector<fs::path> files;
  const auto visit = [&](const fs::path& path) {
    if (path.extension() == ".json") files.push_back(path);
    return files.size() < max_files;
  };
  static_cast<void>(visit_entries(folder, visit));  // a folder that cannot be read counts as empty
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<fs::path> places_of_driver_files(const DriverNeed& driver) {
  std::vector<fs::path> places;
  for (const std::string& variable : driver.file_variables)
    for (fs::path& path : environment_paths(variable.c_str())) places.emplace_back(std::move(path));
  if (driver.folders.empty()) return places;
  for (const fs::path& base : base_folders())
    for (const std::string& folder : driver.folders) places.push_back(base / folder);
  return places;
}

std::string driver_files_state(const DriverNeed& driver) {
  std::string state;
  for (const fs::path& place : places_of_driver_files(driver)) {
    std::error_code problem;
    if (fs::is_directory(place, problem))
      for (const fs::path& manifest : manifests_in(place)) add_manifest(manifest, state);
    else if (fs::exists(place, problem))
      add_manifest(place, state);
  }
  return state;
}

}  // namespace ferrule
