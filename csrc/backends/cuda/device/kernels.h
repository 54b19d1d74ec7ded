// The kernels of the module, loaded on first use.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ferrule::cuda {

// A kernel that is ready to be launched.
struct LoadedKernel {
  const void* function = nullptr;  // a cudaKernel_t
  // Bytes of dynamic shared memory that a launch may ask for. Without asking it is 48 KiB less the kernel's own.
  uint32_t shared_limit = 0;
  std::shared_ptr<const void> library = {};  // of a generated kernel, which is unloaded after its last user
};

// Thread-safe. The device must be the calling thread's current one.
class Kernels {
 public:
  explicit Kernels(int device) : device_(device) {}
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;
  ~Kernels();

  // "softmax.f32" is the kernel softmax_f32 of kernels/**/softmax.cu. The kernel may be launched with so many bytes of
  // dynamic shared memory.
  LoadedKernel get(const std::string& name, uint32_t shared_memory);

 private:
  cudaLibrary_t library_of(const std::string& file);

  const int device_;
  std::mutex mutex_;
  std::map<std::string, cudaLibrary_t> libraries_;  // by the name of the file, without its ending
  std::map<std::string, LoadedKernel> kernels_;
};

}  // namespace ferrule::cuda
