// The part of the calling thread's state that this module shares with other users of the driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace ferrule::cuda {

// While it exists, a device is the thread's current one, and the thread's calls neither fail nor end a capture because
// another thread captures a stream, as PyTorch does for its graphs: none of them concerns a captured stream. Then the
// thread has the context and the capture mode that it had before, as its owner may rely on them. A call without a scope
// uses device 0, and gives it a context, which takes hundreds of megabytes.
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
