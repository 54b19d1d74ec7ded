#include "device/device_scope.h"

namespace ferrule::cuda {
namespace {

// The module is not linked with the driver: the runtime finds the functions. Null if the driver lacks one.
template <class Function>
Function driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return found == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(function) : nullptr;
}

// The runtime's cudaGetDevice does not do: a thread without a context must stay without one.
struct Contexts {
  decltype(&cuCtxGetCurrent) get = driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent", 4000);
  decltype(&cuCtxSetCurrent) set = driver_function<decltype(&cuCtxSetCurrent)>("cuCtxSetCurrent", 4000);
};

const Contexts& contexts() {
  static const Contexts functions;
  return functions;
}

bool exchange_mode(cudaStreamCaptureMode& mode) {
  if (cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess) return true;
  cudaGetLastError();
  return false;
}

}  // namespace

DeviceScope::DeviceScope(int device) noexcept
    : has_context_(contexts().get != nullptr && contexts().set != nullptr && contexts().get(&context_) == CUDA_SUCCESS),
      error_(cudaSetDevice(device)),
      // This must not happen earlier: the runtime would give a thread without a context that of device 0.
      has_mode_(error_ == cudaSuccess && exchange_mode(mode_)) {
  if (error_ != cudaSuccess) cudaGetLastError();
}

DeviceScope::~DeviceScope() {
  if (has_mode_) exchange_mode(mode_);
  if (has_context_) contexts().set(context_);
}

}  // namespace ferrule::cuda
