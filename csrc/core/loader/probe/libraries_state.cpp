#include "core/loader/probe/libraries_state.h"

#include "core/environment.h"
#include "core/platform/drivers/driver_files.h"
#include "core/platform/drivers/driver_version.h"
#include "core/platform/libraries/library_search.h"
#include "module_file/file_bytes.h"
#include "module_file/read_image.h"
#include "module_file/run_paths.h"
#include "module_file/sha256.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

// The libraries of the C library are left out: every module has them, and they do not change within a process.
#if defined(__linux__)
bool is_of_c_library(std::string_view library) {
  const auto is_one = [&](std::string_view stem) {
    return library.starts_with(stem) && library.substr(stem.size()).starts_with(".so");
  };
  constexpr std::string_view stems[] = {"libc", "libm", "libdl", "libpthread", "librt", "libmvec", "libutil"};
  return library.starts_with("ld-") || std::any_of(std::begin(stems), std::end(stems), is_one);
}
#elif defined(_WIN32)
bool is_of_c_library(std::string_view library) {
  const std::string name = lower_case(library);
  return name == "kernel32.dll" || name == "ntdll.dll" || name.starts_with("api-ms-win-");
}
#endif

#if defined(__linux__) || defined(_WIN32)
// The libraries that the module, and the libraries that come with it, are linked with.
std::vector<std::string> needed_libraries(const Candidate& candidate) {
  std::vector<std::string> needed = candidate.image.libraries;
  for (const module_file::OwnLibrary& own : candidate.libraries) {
    module_file::FileBytes file(own.path);
    if (!file.is_open()) continue;
    for (std::string& library : module_file::read_library(file).libraries)
      if (std::find(needed.begin(), needed.end(), library) == needed.end()) needed.push_back(std::move(library));
  }
  return needed;
}
#endif

}  // namespace

std::string libraries_state(const Candidate& candidate) {
  std::string state;
  const auto add_library = [&](const std::string& name, const std::optional<fs::path>& path) {
    std::error_code problem;
    const fs::path real = path ? fs::canonical(*path, problem) : fs::path();
    const auto identity = real.empty() ? std::nullopt : module_file::FileBytes::identity_at(real);
    state += fmt::format("{} {}", name, path_to_text(real));
    if (identity)
      state += fmt::format(" {} {} {} {} {}", identity->device, identity->inode, identity->size, identity->modified_ns,
                           identity->changed_ns);
    state += '\n';
  };
  if (candidate.manifest)
    for (const DriverNeed& need : candidate.manifest->driver) {
      add_library(need.library, find_library(need.library));
      if (!need.version_file.empty()) state += line_about_version_file(need.version_file);
      for (const std::string& file : need.state_files) state += line_about_version_file(file);
      for (const std::string& entry : environment_entries(need.variables)) state += entry + '\n';
      if (need.file_variables.empty() && need.folders.empty()) continue;
      module_file::Sha256 files;  // hashed, because there may be many files and a key has a limited length
      const std::string text = driver_files_state(need);
      files.update({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
      state += fmt::format("files of {} {}\n", need.library, files.finish());
    }
#if defined(__linux__) || defined(_WIN32)
  for (const module_file::OwnLibrary& library : candidate.libraries) add_library(library.name, library.path);
  std::vector<fs::path> own_folders = module_file::folders_of_run_paths(candidate.image, candidate.real.parent_path());
#if defined(_WIN32)
  own_folders.push_back(candidate.real.parent_path());
#endif
  for (const std::string& library : needed_libraries(candidate)) {
    if (is_of_c_library(library)) continue;
    const auto own = find_library_in(own_folders, library);
    add_library(library, own ? own : find_library(library));
  }
#endif
  return state;
}

}  // namespace ferrule
