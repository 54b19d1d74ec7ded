// The part of the calling thread's state that this module shares with other users of the driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace ferrule::cuda {

// Makes a device the thread's current one during its lifetime. The thread's calls then neither fail nor end a capture
// because another thread captures a stream, as PyTorch does for its graphs: none of them concerns a captured stream.
// The destructor restores the thread's context and capture mode, as the owner of the thread may rely on them. A call
// without a scope uses device 0, and gives it a context, which takes hundreds of megabytes.
class DeviceScope {
 public:
  explicit DeviceScope(int device) noexcept;
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope();
  // The error of making the device current. Destructors ignore it, as the next call meets it again.
  cudaError_t error() const { return error_; }

 private:
  CUcontext context_ = nullptr;  // before
  const bool has_context_;
  const cudaError_t error_;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // before; relaxed while the scope exists
  const bool has_mode_;
};

}  // namespace ferrule::cuda
