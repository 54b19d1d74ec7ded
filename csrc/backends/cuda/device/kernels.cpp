#include "device/kernels.h"

#include <algorithm>

#include "device/device_scope.h"
#include "device/errors.h"
#include "device/fat_binaries.h"

namespace ferrule::cuda {

Kernels::~Kernels() {
  if (libraries_.empty()) return;
  const DeviceScope scope(device_);
  for (const auto& [file, library] : libraries_)
    if (cudaLibraryUnload(library) != cudaSuccess) cudaGetLastError();
}

cudaLibrary_t Kernels::library_of(const std::string& file) {
  if (const auto known = libraries_.find(file); known != libraries_.end()) return known->second;
  const auto all = fat_binaries();
  const auto found = std::find_if(all.begin(), all.end(), [&](const FatBinary& one) { return one.name == file; });
  if (found == all.end()) throw sdk::Error(FE_INTERNAL, "the module has no kernels of " + file);
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, found->code, nullptr, nullptr, 0, nullptr, nullptr, 0), "cudaLibraryLoadData");
  libraries_[file] = library;
  return library;
}

LoadedKernel Kernels::get(const std::string& name, uint32_t shared_memory) {
  const std::lock_guard lock(mutex_);
  LoadedKernel& loaded = kernels_[name];
  if (loaded.function == nullptr) {
    std::string function = name;
    std::replace(function.begin(), function.end(), '.', '_');
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library_of(name.substr(0, name.find('.'))), function.c_str()),
          "cudaLibraryGetKernel");
    loaded.function = reinterpret_cast<const void*>(kernel);
  }
  if (shared_memory > loaded.shared_limit) {
    check(cudaFuncSetAttribute(loaded.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_memory)),
          "cudaFuncSetAttribute");
    loaded.shared_limit = shared_memory;
  }
  return loaded;
}

}  // namespace ferrule::cuda
