#include "conformance/shared_library.h"

#include "conformance/check.h"

#if defined(_WIN32)
#include "windows/file.h"
#include "windows/text.h"

#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace ferrule::conformance {

#if defined(_WIN32)
void* open_library(const std::string& path) {
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);  // no windows
  const std::wstring name = windows::long_path(windows::to_wide(path));
  HMODULE library =
      LoadLibraryExW(name.c_str(), nullptr, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  if (!library) throw Failure{"it cannot be opened: " + windows::last_error_text()};
  return library;
}

void* symbol_of(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

void close_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }
#else
void* open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Failure{std::string("it cannot be opened: ") + dlerror()};
  return library;
}

void* symbol_of(void* library, const char* name) { return dlsym(library, name); }

void close_library(void* library) { dlclose(library); }
#endif

}  // namespace ferrule::conformance
