#include "core/loader/driver.h"

#include "core/environment.h"
#include "sdk/tools/file_bytes.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#if defined(_WIN32)
#include <windows.h>
#endif

namespace ferrule {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code problem;
  return fs::exists(path, problem);
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
  static const auto ours = machine_of("/proc/self/exe");
  return is_there(path) && (!ours || machine_of(path) == ours);
}

// The cache of the system's loader holds the path of each library, with a zero byte behind it.
bool is_in_loader_cache(const std::string& library) {
  static const std::string cache = [] {
    std::ifstream file("/etc/ld.so.cache", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const std::string wanted = '/' + library + '\0';
  for (std::size_t at = cache.find(wanted); at != std::string::npos; at = cache.find(wanted, at + 1)) {
    const std::size_t begin = cache.rfind('\0', at) + 1;
    if (is_for_this_machine(cache.substr(begin, at - begin) + '/' + library)) return true;
  }
  return false;
}

bool is_in_folders(const std::string& library) {
  for (const std::string& folder : environment_paths("LD_LIBRARY_PATH"))
    if (is_for_this_machine(fs::path(folder) / library)) return true;
  for (const char* folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    if (is_for_this_machine(fs::path(folder) / library)) return true;
  return false;
}
#endif

}  // namespace

bool is_library_present(const std::string& library) {
  if (fs::path(library).is_absolute()) return is_there(library);
#if defined(__linux__)
  return is_in_loader_cache(library) || is_in_folders(library);
#elif defined(_WIN32)
  return SearchPathW(nullptr, fs::path(library).c_str(), nullptr, 0, nullptr, nullptr) != 0;
#else
  // Libraries of the system need not be files there: the module finds out itself.
  return true;
#endif
}

}  // namespace ferrule
