// The emulated CUDA runtime: streams, events, graphs, memory, and what happens after a fault.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

class Runtime : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess); }
  void TearDown() override {
    cudaStreamDestroy(stream);
    emulation::forget_faults();
  }
  template <class T>
  T* memory(std::size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMallocAsync(&pointer, count * sizeof(T), stream), cudaSuccess);
    return static_cast<T*>(pointer);
  }
  cudaStream_t stream = nullptr;
};

__global__ void scale(float* x, float factor, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= factor;
}

cudaError_t launch_scale(float* x, float factor, unsigned count, cudaStream_t stream) {
  void* arguments[] = {&x, &factor, &count};
  return cudaLaunchKernel(scale, {(count + 63) / 64, 1, 1}, {64, 1, 1}, arguments, 0, stream);
}

TEST_F(Runtime, StreamDoesItsWorkInOrder) {
  std::vector<float> given(1000), got(1000);
  std::iota(given.begin(), given.end(), 0.0F);
  auto* const x = memory<float>(1000);
  ASSERT_EQ(cudaMemcpyAsync(x, given.data(), 4000, cudaMemcpyHostToDevice, stream), cudaSuccess);
  ASSERT_EQ(launch_scale(x, 2, 1000, stream), cudaSuccess);
  ASSERT_EQ(launch_scale(x, 3, 1000, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(got.data(), x, 4000, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(x, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(got[i], 6.0F * static_cast<float>(i));
}

__global__ void waits_for(const int* flag, int* out) {
  while (std::atomic_ref<const int>(*flag).load() == 0) std::this_thread::yield();
  *out += 1;
}

TEST_F(Runtime, StreamsOverlapAndEventsOrderThem) {
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  int flag = 0;
  std::vector<int> out(2);
  const int* flag_pointer = &flag;
  int* pointer = out.data();
  void* arguments[] = {&flag_pointer, &pointer};
  ASSERT_EQ(cudaLaunchKernel(waits_for, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(&out[1], &out[0], sizeof(int), cudaMemcpyDeviceToDevice, other), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  std::atomic_ref<int>(flag).store(1);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  cudaEventDestroy(event);
  cudaStreamDestroy(other);
}

TEST_F(Runtime, MemoryIsLimitedAndCounted) {
  std::size_t free = 0, total = 0, after = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, free + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaMalloc(&pointer, 1000), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(free - after, 1000);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaFree(&free), cudaErrorInvalidValue);
}

__global__ void without_the_caller() { __syncwarp(2); }

TEST_F(Runtime, FaultStopsTheDeviceAndIsDescribed) {
  emulation::name_kernel(reinterpret_cast<const void*>(without_the_caller), "without_the_caller");
  ASSERT_EQ(cudaLaunchKernel(without_the_caller, {1, 1, 1}, {1, 1, 1}, nullptr, 0, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorLaunchFailure);
  const std::string fault = emulation::fault_of_device();
  EXPECT_NE(fault.find("without_the_caller: block (0, 0, 0), thread (0, 0, 0), __syncwarp at"), std::string::npos)
      << fault;
}

TEST_F(Runtime, GraphsReplayAndArePatched) {
  std::vector<float> first(100, 1.0F), second(100, 1.0F);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_EQ(launch_scale(first.data(), 2, 100, stream), cudaSuccess);
  ASSERT_EQ(launch_scale(first.data(), 5, 100, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(first[0], 1.0F);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(first[99], 10.0F);

  std::size_t count = 2;
  std::vector<cudaGraphNode_t> nodes(2);
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
  ASSERT_EQ(count, 2);
  float* x = second.data();
  float factor = 7;
  unsigned size = 100;
  void* arguments[] = {&x, &factor, &size};
  const cudaKernelNodeParams changed = {reinterpret_cast<void*>(scale), {2, 1, 1}, {64, 1, 1}, 0, arguments, nullptr};
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(executable, nodes[1], &changed), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(first[99], 20.0F);
  EXPECT_EQ(second[99], 7.0F);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(Runtime, PagesAreRegisteredOnce) {
  void* pages = std::aligned_alloc(4096, 8192);
  EXPECT_EQ(cudaHostRegister(pages, 8192, cudaHostRegisterReadOnly), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(static_cast<char*>(pages) + 4096, 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostUnregister(pages), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(pages), cudaErrorHostMemoryNotRegistered);
  std::free(pages);
}

TEST_F(Runtime, CopiesDoNotSpanRegistrations) {
  auto* const pages = static_cast<char*>(std::aligned_alloc(4096, 4 * 4096));
  auto* const there = memory<char>(4 * 4096);
  const auto copy = [&](std::size_t begin, std::size_t end) {
    const cudaError_t error = cudaMemcpyAsync(there, pages + begin, end - begin, cudaMemcpyDefault, stream);
    EXPECT_EQ(cudaMemcpyAsync(pages + begin, there, end - begin, cudaMemcpyDefault, stream), error);
    EXPECT_EQ(cudaMemsetAsync(pages + begin, 0, end - begin, stream), error);
    return error;
  };
  EXPECT_EQ(copy(0, 4 * 4096), cudaSuccess);
  ASSERT_EQ(cudaHostRegister(pages + 4096, 4096, 0), cudaSuccess);
  ASSERT_EQ(cudaHostRegister(pages + 2 * 4096, 4096, 0), cudaSuccess);
  EXPECT_EQ(copy(0, 4096), cudaSuccess);
  EXPECT_EQ(copy(4096, 2 * 4096), cudaSuccess);
  EXPECT_EQ(copy(5000, 6000), cudaSuccess);
  for (const auto& [begin, end] :
       {std::pair{0, 4097}, {4096, 3 * 4096}, {8191, 8193}, {3 * 4096 - 1, 4 * 4096}, {0, 4 * 4096}})
    EXPECT_EQ(copy(begin, end), cudaErrorInvalidValue) << begin;
  EXPECT_EQ(cudaHostUnregister(pages + 4096), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(pages + 2 * 4096 + 8), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostUnregister(pages + 2 * 4096), cudaSuccess);
  EXPECT_EQ(copy(0, 4 * 4096), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(there, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  std::free(pages);
}

TEST_F(Runtime, LaunchesThatNoGpuCouldRunAreRefused) {
  float x = 0;
  float* pointer = &x;
  float factor = 1;
  unsigned count = 1;
  void* arguments[] = {&pointer, &factor, &count};
  EXPECT_EQ(cudaLaunchKernel(scale, {1, 1, 1}, {1025, 1, 1}, arguments, 0, stream), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(scale, {1, 1, 1}, {1, 1, 1}, arguments, 49 << 10, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(scale, {1, 1, 1}, {1, 1, 1}, arguments, 49 << 10, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

TEST_F(Runtime, EventMayBeDestroyedWhileAStreamStillWaitsForIt) {
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  int flag = 0, out = 0;
  const int* flag_pointer = &flag;
  int* pointer = &out;
  void* arguments[] = {&flag_pointer, &pointer};
  ASSERT_EQ(cudaLaunchKernel(waits_for, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  std::atomic_ref<int>(flag).store(1);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(out, 1);
  cudaStreamDestroy(other);
}

TEST_F(Runtime, HostFunctionRunsInTheOrderOfItsStream) {
  std::vector<float> x(100, 1.0F);
  struct Seen {
    const float* x;
    float value;
  } seen{x.data(), 0};
  ASSERT_EQ(launch_scale(x.data(), 4, 100, stream), cudaSuccess);
  const cudaHostFn_t look = [](void* data) { static_cast<Seen*>(data)->value = *static_cast<Seen*>(data)->x; };
  ASSERT_EQ(cudaLaunchHostFunc(stream, look, &seen), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen.value, 4.0F);
  EXPECT_EQ(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(Runtime, StreamsSayWhereTheyAreAndWhetherTheyCapture) {
  int device = -1;
  EXPECT_EQ(cudaStreamGetDevice(stream, &device), cudaSuccess);
  EXPECT_EQ(device, 0);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Runtime, PointersSayWhatTheyPointTo) {
  auto* const own = memory<float>(100);
  void *host = nullptr, *registered = std::aligned_alloc(4096, 4096), *reachable = nullptr;
  ASSERT_EQ(cudaHostAlloc(&host, 100, cudaHostAllocMapped), cudaSuccess);
  ASSERT_EQ(cudaHostRegister(registered, 4096, cudaHostRegisterReadOnly), cudaSuccess);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, own + 99), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, own + 99);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  for (void* pointer : {host, registered}) {
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, static_cast<char*>(pointer) + 9), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(attributes.hostPointer, static_cast<char*>(pointer) + 9);
    EXPECT_EQ(cudaHostGetDevicePointer(&reachable, pointer, 0), cudaSuccess);
    EXPECT_EQ(reachable, pointer);
  }
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.devicePointer, nullptr);
  EXPECT_EQ(cudaHostGetDevicePointer(&reachable, &attributes, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(registered), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(registered), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(own, stream), cudaSuccess);
  std::free(registered);
}

TEST_F(Runtime, PoolsKeepTheirThresholdAndCountMemory) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  std::uint64_t threshold = UINT64_MAX, got = 0, used = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got), cudaSuccess);
  EXPECT_EQ(got, threshold);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  auto* const own = memory<char>(1000);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &got), cudaSuccess);
  EXPECT_EQ(got - used, 1000);
  EXPECT_EQ(cudaFreeAsync(own, stream), cudaSuccess);
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 1), cudaErrorInvalidDevice);
}

TEST_F(Runtime, DeviceIsDescribed) {
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "emulated");
  EXPECT_EQ(properties.major, 9);
  const auto attribute = [](cudaDeviceAttr which) {
    int value = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
    return value;
  };
  EXPECT_EQ(attribute(cudaDevAttrComputeMode), cudaComputeModeDefault);
  EXPECT_EQ(attribute(cudaDevAttrIntegrated), 0);
  EXPECT_EQ(attribute(cudaDevAttrConcurrentManagedAccess), 0);
  EXPECT_EQ(attribute(cudaDevAttrHostRegisterSupported), 1);
  EXPECT_EQ(attribute(cudaDevAttrHostRegisterReadOnlySupported), 1);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor), 228 << 10);
  char bus[13];
  ASSERT_EQ(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), cudaSuccess);
  EXPECT_STREQ(bus, "ffff:00:00.0");
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus, 12, 0), cudaErrorInvalidValue);
  int can_access = -1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can_access, 0, 0), cudaSuccess);
  EXPECT_EQ(can_access, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can_access, 0, 1), cudaErrorInvalidDevice);
}

TEST(Errors, HaveTheNamesAndTextsOfCuda) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorECCUncorrectable), "cudaErrorECCUncorrectable");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

}  // namespace
