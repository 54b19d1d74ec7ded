#include "core/platform/libraries/dynamic_library.h"

#include "core/error.h"
#include "core/platform/libraries/signature_advice.h"
#include "core/sync/fork.h"
#include "module_file/path_text.h"

#if defined(_WIN32)
#include "windows/file.h"
#include "windows/text.h"

#include <windows.h>
#else
#include <dlfcn.h>
#endif
#if defined(__linux__)
#include <link.h>
#endif

namespace ferrule {
namespace {

#if defined(_WIN32)
std::string last_error() { return windows::last_error_text(); }

// Suppresses the dialog boxes of Windows: a missing DLL is reported as an error.
struct WithoutDialogs {
  WithoutDialogs() { SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &before); }
  ~WithoutDialogs() { SetThreadErrorMode(before, nullptr); }
  DWORD before = 0;
};
#else
std::string last_error() {
  const char* text = dlerror();
  if (text == nullptr) return "the system does not say why";
  return text + signature_advice(text);
}
#endif

}  // namespace

std::shared_ptr<DynamicLibrary> DynamicLibrary::open(const std::filesystem::path& path,
                                                     const std::vector<std::filesystem::path>& needed) {
  std::vector<std::shared_ptr<DynamicLibrary>> opened;
  for (const std::filesystem::path& library : needed) {
    try {
      opened.push_back(open(library));
    } catch (const Error&) {
      // Opening the module below then fails with the system's message.
    }
  }
  const HoldsForks holds_forks;
#if defined(_WIN32)
  const WithoutDialogs without_dialogs;
  void* handle = LoadLibraryExW(windows::long_path(path.native()).c_str(), nullptr,
                                LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
#else
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
#endif
  if (handle == nullptr) fail(FE_IO, "it cannot be opened: {}", last_error());
  return std::make_shared<DynamicLibrary>(handle, std::move(opened));
}

bool DynamicLibrary::is_open(const std::filesystem::path& path) {
#if defined(_WIN32)
  return GetModuleHandleW(windows::long_path(path.native()).c_str()) != nullptr;
#else
  const HoldsForks holds_forks;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
#endif
}

DynamicLibrary::~DynamicLibrary() {
  const HoldsForks holds_forks;
#if defined(_WIN32)
  FreeLibrary(static_cast<HMODULE>(handle_));
#else
  dlclose(handle_);
#endif
}

const void* DynamicLibrary::address() const noexcept {
#if defined(__linux__)
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr) return map->l_ld;
#endif
  return nullptr;
}

void* DynamicLibrary::symbol(const char* name) const noexcept {
#if defined(_WIN32)
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
#else
  return dlsym(handle_, name);
#endif
}

}  // namespace ferrule
