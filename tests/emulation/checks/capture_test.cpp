// What threads share by the driver: captures of streams, and the current
// context of a thread.
#include <gtest/gtest.h>

#include <thread>

#include "cuda.h"
#include "cuda_runtime_api.h"

namespace {

struct StreamCapture : testing::Test {
  StreamCapture() { cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
  ~StreamCapture() override { cudaStreamDestroy(stream); }
  // Ends the capture; returns the error.
  cudaError_t end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    return error == cudaSuccess ? cudaGraphDestroy(graph) : error;
  }
  cudaStream_t stream = nullptr;
};

cudaError_t allocate() {
  void *pointer = nullptr;
  const cudaError_t error = cudaHostAlloc(&pointer, 1, cudaHostAllocDefault);
  return error == cudaSuccess ? cudaFreeHost(pointer) : error;
}

cudaError_t allocate_in_thread(cudaStreamCaptureMode mode) {
  cudaError_t error = cudaSuccess;
  std::thread([&] {
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
    error = allocate();
  }).join();
  return error;
}

TEST_F(StreamCapture, UnsafeCallOfAnotherThreadEndsAGlobalOne) {
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(allocate_in_thread(cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(allocate_in_thread(cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(end(), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(allocate_in_thread(cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(allocate_in_thread(cudaStreamCaptureModeGlobal), cudaSuccess);
}

TEST_F(StreamCapture, OtherModesConcernTheirThreadOrNobody) {
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(allocate_in_thread(cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(allocate(), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(allocate(), cudaSuccess);
  EXPECT_EQ(end(), cudaSuccess);
}

TEST(CurrentContext, IsTheThreadsOwnAndCanBePutBack) {
  CUcontext first = nullptr;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cuCtxGetCurrent(&first), CUDA_SUCCESS);
  ASSERT_NE(first, nullptr);
  std::thread([&] {
    CUcontext own = first;
    EXPECT_EQ(cuCtxGetCurrent(&own), CUDA_SUCCESS);
    EXPECT_EQ(own, nullptr);
    EXPECT_EQ(cuCtxSetCurrent(first), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxGetCurrent(&own), CUDA_SUCCESS);
    EXPECT_EQ(own, first);
  }).join();
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  CUcontext none = first;
  EXPECT_EQ(cuCtxGetCurrent(&none), CUDA_SUCCESS);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(allocate(), cudaSuccess);  // makes the context of device 0 current
  EXPECT_EQ(cuCtxGetCurrent(&none), CUDA_SUCCESS);
  EXPECT_EQ(none, first);
}

}  // namespace
