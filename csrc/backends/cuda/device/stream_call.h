// Work that another library adds to a stream.
#pragma once

#include <cuda_runtime_api.h>

namespace ferrule::cuda {

class StreamCall {
 public:
  StreamCall() = default;
  StreamCall(const StreamCall&) = delete;
  StreamCall& operator=(const StreamCall&) = delete;
  virtual ~StreamCall() = default;
  // False if the library has added nothing: kernels that compute the same must be launched. Thread-safe.
  virtual bool add_to(cudaStream_t stream, const void* parameters) const = 0;
};

}  // namespace ferrule::cuda
