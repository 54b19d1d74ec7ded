#include "probe/worker_system.h"

#include "module_file/path_text.h"
#include "windows/file.h"

#include <windows.h>

namespace ferrule::probe {

std::size_t write_some(intptr_t descriptor, const char* bytes, std::size_t count) {
  DWORD written = 0;
  const auto part = static_cast<DWORD>(count < (std::size_t{1} << 20) ? count : (std::size_t{1} << 20));
  return WriteFile(reinterpret_cast<HANDLE>(descriptor), bytes, part, &written, nullptr) != 0 ? written : 0;
}

// _Exit of Windows' C library still lets each library run its code for the end of the process.
[[noreturn]] void end_process(int status) {
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(status));
  for (;;) Sleep(INFINITE);
}

void search_for_libraries_in(const std::string& folder) {
  // Applies also to modules that open libraries by name, unlike AddDllDirectory.
  if (!folder.empty()) SetDllDirectoryW(path_from_text(folder).c_str());
}

void* keep_mapped(const std::string& module) {
  HMODULE code = nullptr;
  return GetModuleHandleExW(0, windows::long_path(path_from_text(module).native()).c_str(), &code) != 0 ? code
                                                                                                        : nullptr;
}

void release_mapped(void* code) { FreeLibrary(static_cast<HMODULE>(code)); }

}  // namespace ferrule::probe
