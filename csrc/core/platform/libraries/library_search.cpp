#include "core/platform/libraries/library_search.h"

#include "core/environment.h"
#include "core/sync/once.h"
#include "module_file/path_text.h"
#include "module_file/read_image.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <system_error>

#if defined(_WIN32)
#include "core/platform/libraries/library_paths.h"

#include <windows.h>
#endif

namespace ferrule {
namespace {

namespace fs = std::filesystem;

#if defined(__linux__)
constexpr uint32_t elf_magic = 0x464c457f;  // "\x7fELF"

// The bytes of an ELF header that identify the machine: class, byte order, architecture. Empty for other files.
std::optional<std::array<uint8_t, 3>> machine_of(const fs::path& path) {
  module_file::FileBytes file(path);
  std::array<uint8_t, 3> machine{};
  if (file.read<uint32_t>(0) != elf_magic || !file.read(4, machine.data(), 2) || !file.read(18, machine.data() + 2, 1))
    return std::nullopt;
  return machine;
}

// Whether the system's loader stops at this file: it passes over libraries for other machines, such as those for 32-bit
// programs, and fails at a file that is no library.
bool ends_search(const fs::path& path) {
  static constinit Once<decltype(machine_of(path))> own;
  const auto& ours = own.get([] { return machine_of("/proc/self/exe"); });
  std::error_code problem;
  if (!fs::is_regular_file(path, problem)) return false;
  const auto machine = machine_of(path);
  return !ours || !machine || machine == ours;
}

// The cache of the system's loader contains the path of each library, followed by a zero byte.
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
    if (ends_search(path)) return path;
  }
  return std::nullopt;
}
#elif defined(_WIN32)
bool ends_search(const fs::path& path) {
  std::error_code problem;
  return fs::is_regular_file(path, problem);
}

// The folders that come before those of PATH: the program's, and those of Windows.
std::vector<fs::path> first_folders() {
  std::vector<fs::path> folders = {executable_dir()};
  for (const auto folder_of : {&GetSystemDirectoryW, &GetWindowsDirectoryW}) {
    std::wstring path(32768, L'\0');
    path.resize(folder_of(path.data(), static_cast<UINT>(path.size())));
    folders.emplace_back(path);
  }
  return folders;
}
#endif

}  // namespace

#if defined(__linux__) || defined(_WIN32)
std::optional<fs::path> find_library_in(const std::vector<fs::path>& folders, const std::string& library) {
  for (const fs::path& folder : folders) {
    fs::path path = folder / path_from_text(library);  // a relative one would depend on the current directory
    if (path.is_absolute() && ends_search(path)) return path;
  }
  return std::nullopt;
}
#endif

std::optional<fs::path> find_library(const std::string& library) {
  const fs::path named = path_from_text(library);
  if (named.is_absolute()) {
    std::error_code problem;
    return fs::exists(named, problem) ? std::optional<fs::path>(named) : std::nullopt;
  }
#if defined(__linux__)
  // The loader does not search for a relative path.
  if (library.find('/') != std::string::npos) return std::nullopt;
  if (auto path = find_library_in(environment_paths("LD_LIBRARY_PATH"), library)) return path;
  if (auto path = find_in_loader_cache(library)) return path;
  return find_library_in({"/lib64", "/usr/lib64", "/lib", "/usr/lib"}, library);
#elif defined(_WIN32)
  // Searches like LoadLibrary, with which modules open drivers, but not in the current directory.
  if (library.find_first_of("/\\:") != std::string::npos) return std::nullopt;
  if (auto path = find_library_in(first_folders(), library)) return path;
  return find_library_in(environment_paths("PATH"), library);
#else
  // System libraries need not exist as files on macOS: opening the module shows whether they are there.
  return named;
#endif
}

std::string damage_of_library([[maybe_unused]] const fs::path& path) {
#if defined(__linux__)
  module_file::FileBytes file(path);
  if (!file.is_open()) return file.problem();
  if (file.read<uint32_t>(0) != elf_magic) return module_file::describe_beginning(file);
  return module_file::ElfReader(file).read_library().problem;
#else
  return "";
#endif
}

}  // namespace ferrule
