#include "core/loader/driver.h"

#include "core/environment.h"
#include "core/loader/driver_files.h"
#include "core/loader/run_paths.h"
#include "core/threads/once.h"
#include "sdk/tools/elf.h"
#include "sdk/tools/file_bytes.h"
#include "sdk/tools/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#if defined(_WIN32)
#include <windows.h>
#endif

namespace ferrule {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_version_file = 1024;  // bytes of it that are read

bool is_there(const fs::path& path) {
  std::error_code problem;
  return fs::exists(path, problem);
}

// What the kernel shows as a file has no size to go by, and a pipe in its place would not end.
std::string beginning_of(const fs::path& path) {
  std::error_code problem;
  if (!fs::is_regular_file(path, problem)) return "";
  std::ifstream file(path, std::ios::binary);
  std::string text(longest_version_file, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// The path and the text of a file; "" without one.
std::string line_about(const fs::path& path) {
  const std::string text = beginning_of(path);
  return text.empty() ? "" : fmt::format("{} {}\n", path.string(), text);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_version(std::string_view text) {
  return !text.empty() && is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
}

// The first word of a text that is a version.
std::optional<std::string> version_in(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(blanks);
    if (const std::string_view word = text.substr(0, end); is_version(word)) return std::string(word);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

// Takes the first number off a version; its leading zeros, too, so that of two the longer is the larger.
std::string_view take_number(std::string_view& version) {
  const std::size_t end = version.find('.');
  std::string_view number = version.substr(0, end);
  version.remove_prefix(end == std::string_view::npos ? version.size() : end + 1);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

#if defined(__linux__)
// The words of an ELF header that tell two machines apart: class, byte order, architecture.
std::optional<std::array<uint8_t, 3>> machine_of(const fs::path& path) {
  tools::FileBytes file(path);
  std::array<uint8_t, 3> machine{};
  if (!file.read(4, machine.data(), 2) || !file.read(18, machine.data() + 2, 1)) return std::nullopt;
  return machine;
}

// A library of the same name may lie there for 32 bit programs.
bool is_for_this_machine(const fs::path& path) {
  static constinit Once<decltype(machine_of(path))> own;
  const auto& ours = own.get([] { return machine_of("/proc/self/exe"); });
  return is_there(path) && (!ours || machine_of(path) == ours);
}

// The cache of the system's loader holds the path of each library, with a zero byte behind it.
std::optional<fs::path> find_in_loader_cache(const std::string& library) {
  static constinit Once<std::string> whole;
  const std::string& cache = whole.get([] {
    std::ifstream file("/etc/ld.so.cache", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  });
  const std::string wanted = '/' + library + '\0';
  for (std::size_t at = cache.find(wanted); at != std::string::npos; at = cache.find(wanted, at + 1)) {
    const std::size_t begin = cache.rfind('\0', at) + 1;
    fs::path path = cache.substr(begin, at - begin) + '/' + library;
    if (is_for_this_machine(path)) return path;
  }
  return std::nullopt;
}

std::optional<fs::path> find_in(const std::vector<std::string>& folders, const std::string& library) {
  for (const std::string& folder : folders) {
    fs::path path = fs::path(folder) / library;  // a relative one would be the current directory's
    if (path.is_absolute() && is_for_this_machine(path)) return path;
  }
  return std::nullopt;
}

// Those of the C library are the same for as long as the process is, and every module has them.
bool is_of_c_library(std::string_view library) {
  const auto is_one = [&](std::string_view stem) {
    return library.starts_with(stem) && library.substr(stem.size()).starts_with(".so");
  };
  constexpr std::string_view stems[] = {"libc", "libm", "libdl", "libpthread", "librt", "libmvec", "libutil"};
  return library.starts_with("ld-") || std::any_of(std::begin(stems), std::end(stems), is_one);
}

// The libraries that the module, or a library that comes with it, is linked with.
std::vector<std::string> needed_libraries(const Candidate& candidate) {
  std::vector<std::string> needed = candidate.image.libraries;
  for (const tools::OwnLibrary& own : candidate.libraries) {
    tools::FileBytes file(own.path);
    if (!file.is_open()) continue;
    for (std::string& library : tools::ElfReader(file).read_library().libraries)
      if (std::find(needed.begin(), needed.end(), library) == needed.end()) needed.push_back(std::move(library));
  }
  return needed;
}
#endif

}  // namespace

std::optional<fs::path> find_library(const std::string& library) {
  if (fs::path(library).is_absolute()) return is_there(library) ? std::optional<fs::path>(library) : std::nullopt;
#if defined(__linux__)
  // A path that begins anywhere else is none that the loader would look for.
  if (library.find('/') != std::string::npos) return std::nullopt;
  if (auto path = find_in(environment_paths("LD_LIBRARY_PATH"), library)) return path;
  if (auto path = find_in_loader_cache(library)) return path;
  return find_in({"/lib64", "/usr/lib64", "/lib", "/usr/lib"}, library);
#elif defined(_WIN32)
  std::wstring path(32768, L'\0');
  path.resize(
      SearchPathW(nullptr, fs::path(library).c_str(), nullptr, static_cast<DWORD>(path.size()), path.data(), nullptr));
  return path.empty() ? std::nullopt : std::optional<fs::path>(path);
#else
  // Libraries of the system need not be files there: the module finds out itself.
  return library;
#endif
}

bool is_older(std::string_view version, std::string_view other) {
  while (!version.empty() || !other.empty()) {
    const std::string_view a = take_number(version), b = take_number(other);
    if (a != b) return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
  return false;
}

std::optional<std::string> driver_version(const DriverNeed& need) {
  if (!need.version_file.empty()) return version_in(beginning_of(need.version_file));
  const auto path = find_library(need.library);
  if (!path) return std::nullopt;
  const std::string name = path->filename().string();
  std::error_code problem;
  const std::string real = fs::canonical(*path, problem).filename().string();
  const std::size_t end_of_stem = name.find(".so.");
  // A file of the very name that programs ask for tells its interface only, not its version.
  if (problem || real == name || end_of_stem == std::string::npos) return std::nullopt;
  const std::string stem = name.substr(0, end_of_stem + 4);
  if (!real.starts_with(stem) || !is_version(std::string_view(real).substr(stem.size()))) return std::nullopt;
  return real.substr(stem.size());
}

std::string complaint_about_driver(const DriverNeed& need) {
  if (!find_library(need.library)) return "its driver's library " + need.library + " is not on this machine";
  if (need.floor.empty()) return "";
  const auto version = driver_version(need);
  if (!version || !is_older(*version, need.floor)) return "";
  return fmt::format("the driver is {} ({}); it needs {} or newer", *version, need.library, need.floor);
}

std::string libraries_state(const Candidate& candidate) {
  std::string state;
  const auto add_library = [&](const std::string& name, const std::optional<fs::path>& path) {
    std::error_code problem;
    const fs::path real = path ? fs::canonical(*path, problem) : fs::path();
    const auto identity = real.empty() ? std::nullopt : tools::FileBytes::identity_at(real);
    state += fmt::format("{} {}", name, real.string());
    if (identity)
      state += fmt::format(" {} {} {} {} {}", identity->device, identity->inode, identity->size, identity->modified_ns,
                           identity->changed_ns);
    state += '\n';
  };
  if (candidate.manifest)
    for (const DriverNeed& need : candidate.manifest->driver) {
      add_library(need.library, find_library(need.library));
      if (!need.version_file.empty()) state += line_about(need.version_file);
      for (const std::string& file : need.state_files) state += line_about(file);
      for (const std::string& entry : environment_entries(need.variables)) state += entry + '\n';
      if (need.file_variables.empty() && need.folders.empty()) continue;
      tools::Sha256 files;  // there may be many, and a key is bounded
      const std::string text = driver_files_state(need);
      files.update({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
      state += fmt::format("files of {} {}\n", need.library, files.finish());
    }
#if defined(__linux__)
  for (const tools::OwnLibrary& library : candidate.libraries) add_library(library.name, library.path);
  std::vector<std::string> own_folders;
  for (const fs::path& folder : folders_of_run_paths(candidate.image, candidate.real.parent_path()))
    own_folders.push_back(folder.string());
  for (const std::string& library : needed_libraries(candidate)) {
    if (is_of_c_library(library)) continue;
    const auto own = find_in(own_folders, library);
    add_library(library, own ? own : find_library(library));
  }
#endif
  return state;
}

}  // namespace ferrule
