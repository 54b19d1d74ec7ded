#include "nvrtc/library_paths.h"

#include <filesystem>
#include <system_error>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace ferrule::cuda {
namespace {

namespace fs = std::filesystem;

// The packages are nvidia-cuda-nvrtc of CUDA 13 and nvidia-cuda-nvrtc-cu12.
#if defined(_WIN32)
constexpr LibraryLocation nvrtc_locations[] = {{"nvidia/cu13/bin/x86_64", "nvrtc64_130_0.dll"},
                                               {"nvidia/cuda_nvrtc/bin", "nvrtc64_120_0.dll"}};
#else
constexpr LibraryLocation nvrtc_locations[] = {{"nvidia/cu13/lib", "libnvrtc.so.13"},
                                               {"nvidia/cuda_nvrtc/lib", "libnvrtc.so.12"}};
#endif

#ifndef FERRULE_CUDA_EMULATED
// The folder of this module; empty if it is unknown.
fs::path own_folder() {
#if defined(_WIN32)
  HMODULE module = nullptr;
  wchar_t path[32768];
  if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                         reinterpret_cast<LPCWSTR>(&own_folder), &module) == 0)
    return {};
  const DWORD size = GetModuleFileNameW(module, path, std::size(path));
  return size == 0 || size == std::size(path) ? fs::path() : fs::path(path).parent_path();
#else
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  return fs::path(info.dli_fname).parent_path();
#endif
}
#endif

}  // namespace

std::vector<std::string> library_files() { return library_files(nvrtc_locations); }

std::vector<std::string> library_files([[maybe_unused]] std::span<const LibraryLocation> locations) {
#ifdef FERRULE_CUDA_EMULATED
  return {};  // its kernels are no machine code of a GPU
#else
  std::vector<std::string> files;
  // The module of a wheel is in site-packages/ferrule_backends/cuda.
  const fs::path site = own_folder().parent_path().parent_path();
  std::error_code error;
  for (const LibraryLocation& location : locations)
    if (const fs::path file = site / location.folder / location.name; !site.empty() && fs::exists(file, error))
      files.push_back(file.string());
  for (const LibraryLocation& location : locations) files.emplace_back(location.name);
  return files;
#endif
}

void* open_library(const std::string& file, std::string& complaint) {
#if defined(_WIN32)
  HMODULE const library =
      LoadLibraryExA(file.c_str(), nullptr,
                     fs::path(file).is_absolute() ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
                                                  : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  if (library == nullptr) complaint = "it cannot be opened";
  return reinterpret_cast<void*>(library);
#else
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const error = dlerror();
    complaint = error != nullptr ? error : "it cannot be opened";
  }
  return library;
#endif
}

void* function_of(void* library, const char* name) {
#if defined(_WIN32)
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
#else
  return dlsym(library, name);
#endif
}

}  // namespace ferrule::cuda
