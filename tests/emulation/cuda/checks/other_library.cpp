// Another library that uses the GPU of a module in the same process, as CuPy does: it has a CUDA runtime of its own.
// Tests of the exchange of arrays load it.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "cuda.h"
#include "cuda_runtime_api.h"

#define EXPORTED extern "C" [[gnu::visibility("default")]]

// Each returns the first error of its calls.
EXPORTED int other_stream_create(void** stream) {
  if (const cudaError_t error = cudaSetDevice(0); error != cudaSuccess) return error;
  return cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(stream), cudaStreamNonBlocking);
}

EXPORTED int other_stream_destroy(void* stream) { return cudaStreamDestroy(static_cast<cudaStream_t>(stream)); }

// The stream does nothing until the number at `gate` is not 0.
EXPORTED int other_hold(void* stream, std::int32_t* gate) {
  const auto wait = [](void* pointer) {
    const std::atomic_ref is_open(*static_cast<std::int32_t*>(pointer));
    while (is_open == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  };
  return cudaLaunchHostFunc(static_cast<cudaStream_t>(stream), wait, gate);
}

EXPORTED void other_open(std::int32_t* gate) { std::atomic_ref(*gate).store(1); }

EXPORTED int other_copy(void* stream, void* to, const void* from, std::size_t bytes) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream));
}

EXPORTED int other_synchronize(void* stream) { return cudaStreamSynchronize(static_cast<cudaStream_t>(stream)); }

// `stream` waits for what `of` has been given.
EXPORTED int other_wait(void* stream, void* of) {
  cudaEvent_t event = nullptr;
  cudaError_t error = cudaSetDevice(0);
  if (error == cudaSuccess) error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (error != cudaSuccess) return error;
  error = cudaEventRecord(event, static_cast<cudaStream_t>(of));
  if (error == cudaSuccess) error = cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), event, 0);
  if (const cudaError_t end = cudaEventDestroy(event); error == cudaSuccess) error = end;
  return error;
}

// Begins a capture in the mode that other threads notice.
EXPORTED int other_begin_capture(void* stream) {
  return cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeGlobal);
}

// Returns cudaErrorStreamCaptureInvalidated if a call of somebody has ended the capture before.
EXPORTED int other_end_capture(void* stream) {
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph);
  return error == cudaSuccess ? cudaGraphDestroy(graph) : error;
}

// Memory of the host that the library registers, or that its runtime allocates.
EXPORTED int other_register(void* pointer, std::size_t bytes) {
  if (const cudaError_t error = cudaSetDevice(0); error != cudaSuccess) return error;
  return cudaHostRegister(pointer, bytes, cudaHostRegisterDefault);
}

EXPORTED int other_unregister(void* pointer) { return cudaHostUnregister(pointer); }

EXPORTED int other_allocate(void** pointer, std::size_t bytes) {
  if (const cudaError_t error = cudaSetDevice(0); error != cudaSuccess) return error;
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

EXPORTED int other_free(void* pointer) { return cudaFreeHost(pointer); }

EXPORTED int other_set_device(int device) { return cudaSetDevice(device); }

// The number of the device whose context is the thread's current one; -1 if there is none.
EXPORTED int other_current_device() {
  CUcontext context = nullptr;
  int device = -1;
  if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr || cudaGetDevice(&device) != cudaSuccess)
    return -1;
  return device;
}
