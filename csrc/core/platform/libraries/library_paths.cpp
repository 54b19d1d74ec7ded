#include "core/platform/libraries/library_paths.h"

#include "core/sync/fork.h"
#include "core/sync/once.h"

#include <cstdint>
#include <system_error>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#if defined(__linux__)
#include <link.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace ferrule {
namespace {

namespace fs = std::filesystem;

fs::path real_path_of(const fs::path& file) {
  std::error_code problem;
  fs::path real = fs::canonical(file, problem);
  return problem ? fs::path() : real;
}

#if defined(_WIN32)
fs::path file_of(HMODULE module) {
  std::wstring name(32768, L'\0');
  name.resize(GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size())));
  return name;
}
#endif

#if defined(__linux__)
// The system's loader only has the name that the program was started with, so the program is recognized by address.
bool is_in_program(const void* address) {
  const auto visit = [](dl_phdr_info* info, size_t, void* argument) {
    const auto wanted = *static_cast<const uintptr_t*>(argument);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_LOAD && wanted >= begin && wanted - begin < segment.p_memsz) return 1;
    }
    return -1;  // only the first entry is the program
  };
  auto wanted = reinterpret_cast<uintptr_t>(address);
  const HoldsForks holds_forks;
  return dl_iterate_phdr(visit, &wanted) == 1;
}
#endif

fs::path executable_file() {
#if defined(_WIN32)
  return real_path_of(file_of(nullptr));
#elif defined(__APPLE__)
  std::string name(4096, '\0');
  uint32_t size = static_cast<uint32_t>(name.size());
  return _NSGetExecutablePath(name.data(), &size) == 0 ? real_path_of(name.c_str()) : fs::path();
#else
  return real_path_of("/proc/self/exe");
#endif
}

// The file of libferrule by the path that the system opened it by.
fs::path opened_library_file() {
#if defined(_WIN32)
  HMODULE module = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                     reinterpret_cast<LPCWSTR>(&opened_library_file), &module);
  return file_of(module);
#else
  const void* here = reinterpret_cast<const void*>(&opened_library_file);
#if defined(__linux__)
  if (is_in_program(here)) return executable_file();
#endif
  Dl_info info{};
  if (dladdr(here, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
#endif
}

struct LibraryFile {
  fs::path opened, real;
};

const LibraryFile& library() {
  // Found once: a name relative to the current directory would be wrong after a chdir.
  static constinit Once<LibraryFile> file;
  return file.get([] {
    const fs::path opened = opened_library_file();
    std::error_code problem;
    return LibraryFile{fs::absolute(opened, problem), real_path_of(opened)};
  });
}

}  // namespace

fs::path executable_dir() { return executable_file().parent_path(); }

fs::path library_file() { return library().real; }

std::vector<fs::path> library_dirs() {
  const fs::path opened = library().opened.parent_path(), real = library().real.parent_path();
  if (real.empty()) return {};
  return opened == real ? std::vector{real} : std::vector{opened, real};
}

}  // namespace ferrule
