// Tests that the emulated CUDA runtime refuses or reports wrong use, and that it runs unordered work in another order.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct WriteParameters {
  int* out;
  int value;
};
struct AppendParameters {
  char* text;
  char letter;
};
struct WaitParameters {
  const int* flag;
  int* out;
};
struct EmptyParameters {};

}  // namespace

FERRULE_KERNEL(write_value, WriteParameters, 64) { *p.out = p.value; }
FERRULE_KERNEL(static_and_dynamic, WriteParameters, 1) {
  FERRULE_SHARED(int, fixed, [4]);
  FERRULE_DYNAMIC_SHARED(int, staged);
  fixed[0] = staged[0] = p.value;
  *p.out = fixed[0] + staged[0];
}
FERRULE_KERNEL(append_letter, AppendParameters, 32) {
  if (threadIdx.x == 0) p.text[std::strlen(p.text)] = p.letter;
}
FERRULE_KERNEL(waits_for, WaitParameters, 1) {
  while (std::atomic_ref<const int>(*p.flag).load() == 0) std::this_thread::yield();
  *p.out += 1;
}
FERRULE_KERNEL(mask_without_the_caller, EmptyParameters, 32) { __syncwarp(2); }

namespace {

class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(load(&emulation::own_code_image, &library), cudaSuccess);
  }
  void TearDown() override {
    cudaStreamDestroy(stream);
    EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
    emulation::forget_faults();
  }
  static cudaError_t load(const void* code, cudaLibrary_t* library) {
    return cudaLibraryLoadData(library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
  cudaKernel_t kernel(const char* name) const {
    cudaKernel_t found = nullptr;
    EXPECT_EQ(cudaLibraryGetKernel(&found, library, name), cudaSuccess) << name;
    return found;
  }
  template <class Parameters>
  cudaError_t launch(cudaKernel_t kernel, dim3 grid, dim3 block, Parameters parameters, std::size_t shared = 0) const {
    void* arguments[] = {&parameters};
    return cudaLaunchKernel(static_cast<const void*>(kernel), grid, block, arguments, shared, stream);
  }
  cudaStream_t stream = nullptr;
  cudaLibrary_t library = nullptr;
};

TEST_F(Runtime, EventsOrderStreamsThatOverlap) {
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  int flag = 0;
  std::vector<int> out(2);
  ASSERT_EQ(launch(kernel("waits_for"), 1, 1, WaitParameters{&flag, out.data()}), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(&out[1], &out[0], sizeof(int), cudaMemcpyDeviceToDevice, other), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);  // while a stream still waits for it
  std::atomic_ref<int>(flag).store(1);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(out[1], 1);
  cudaStreamDestroy(other);
}

TEST_F(Runtime, FaultOfAKernelStopsTheDeviceAndNamesKernelAndLine) {
  ASSERT_EQ(launch(kernel("mask_without_the_caller"), 1, 1, EmptyParameters{}), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorLaunchFailure);
  const std::string fault = emulation::fault_of_device();
  EXPECT_EQ(fault.find("mask_without_the_caller: block (0, 0, 0), thread (0, 0, 0), __syncwarp at"), 0) << fault;
}

TEST_F(Runtime, MemoryIsFreedOnceAndBoundedByThatOfTheDevice) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, free + 1), cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaMalloc(&pointer, 1000), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
}

TEST_F(Runtime, CopiesDoNotSpanRegistrations) {
  auto* const pages = static_cast<char*>(std::aligned_alloc(4096, 3 * 4096));
  std::vector<char> there(std::size_t{3} * 4096);
  const auto copy = [&](std::size_t begin, std::size_t end) {
    const cudaError_t error = cudaMemcpyAsync(there.data(), pages + begin, end - begin, cudaMemcpyDefault, stream);
    EXPECT_EQ(cudaMemsetAsync(pages + begin, 0, end - begin, stream), error);
    return error;
  };
  ASSERT_EQ(cudaHostRegister(pages, 4096, 0), cudaSuccess);
  ASSERT_EQ(cudaHostRegister(pages + 4096, 4096, 0), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(pages + 4096, 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(copy(100, 4096), cudaSuccess);
  EXPECT_EQ(copy(0, 8192), cudaErrorInvalidValue);
  EXPECT_EQ(copy(8191, 8193), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(pages), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(pages), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostUnregister(pages + 4096), cudaSuccess);
  std::free(pages);
}

TEST_F(Runtime, LaunchesBeyondTheLimitsOfAKernelAreRefused) {
  int out = 0;
  const WriteParameters parameters{&out, 1};
  const auto* const function = static_cast<const void*>(kernel("write_value"));
  EXPECT_EQ(launch(kernel("write_value"), 1, 65, parameters), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(launch(kernel("write_value"), 0, 1, parameters), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kernel("write_value"), 1, 1, parameters, 64 << 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10), cudaSuccess);
  EXPECT_EQ(launch(kernel("write_value"), 1, 1, parameters, 64 << 10), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  // Without the attribute, static and dynamic shared memory count together.
  EXPECT_EQ(launch(kernel("static_and_dynamic"), 1, 1, parameters, (48 << 10) - 16), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(launch(kernel("static_and_dynamic"), 1, 1, parameters, 48 << 10), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_NE(emulation::fault_of_device().find("more than the limit of 49152"), std::string::npos);
}

TEST_F(Runtime, KernelOfAnUnloadedLibraryIsRefused) {
  cudaLibrary_t second = nullptr;
  ASSERT_EQ(load(&emulation::own_code_image, &second), cudaSuccess);
  cudaKernel_t write = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&write, second, "write_value"), cudaSuccess);
  int out = 0;
  ASSERT_EQ(launch(write, 1, 1, WriteParameters{&out, 5}), cudaSuccess);
  ASSERT_EQ(cudaLibraryUnload(second), cudaSuccess);
  EXPECT_EQ(launch(write, 1, 1, WriteParameters{&out, 6}), cudaErrorInvalidDeviceFunction);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out, 5);
  const std::array<std::uint64_t, 3> fat_binary{0xba55ed50};
  EXPECT_EQ(load(fat_binary.data(), &second), cudaErrorInvalidKernelImage);
}

TEST_F(Runtime, NodesOfAGraphThatNothingOrdersRunInAnotherOrder) {
  cudaGraph_t graph = nullptr, other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  std::array<char, 16> text{};
  const auto add = [&](char letter, const std::vector<cudaGraphNode_t>& dependencies, cudaGraphNode_t* node) {
    AppendParameters parameters{text.data(), letter};
    void* arguments[] = {&parameters};
    const cudaKernelNodeParams params = {kernel("append_letter"), 1, 32, 0, arguments, nullptr};
    return cudaGraphAddKernelNode(node, graph, dependencies.data(), dependencies.size(), &params);
  };
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  ASSERT_EQ(add('a', {}, &a), cudaSuccess);
  ASSERT_EQ(add('b', {a}, &b), cudaSuccess);
  ASSERT_EQ(add('c', {a}, &c), cudaSuccess);
  ASSERT_EQ(add('d', {b, c}, &d), cudaSuccess);
  EXPECT_EQ(add('e', {a, a}, &d), cudaErrorInvalidValue);
  for (const auto& [order, result] : {std::pair{"forward", "abcd"}, {"reverse", "acbd"}}) {
    setenv("FERRULE_EMULATION_ORDER", order, 1);
    text.fill(0);
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_STREQ(text.data(), result);
  }
  unsetenv("FERRULE_EMULATION_ORDER");
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  std::swap(graph, other);
  EXPECT_EQ(add('f', {a}, &d), cudaErrorInvalidValue);  // a node of another graph
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
}

// ---- environment variables, each in a process of its own
using Variables = std::vector<std::pair<const char*, const char*>>;
[[noreturn]] void check_with(const Variables& variables, void (*check)()) {
  for (const auto& [name, value] : variables) setenv(name, value, 1);
  check();
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST(SettingsDeathTest, StreamsEventsAndFaultsBelongToTheirDevice) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto check = [] {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t event = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&first, 0), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&second, 0), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&event, 0), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(event, first), cudaErrorInvalidResourceHandle);
    char byte = 0;
    ASSERT_EQ(cudaMemsetAsync(&byte, 1, 1, first), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaErrorLaunchTimeout);
    ASSERT_EQ(cudaMemsetAsync(&byte, 2, 1, second), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
    EXPECT_EQ(byte, 2);
  };
  const Variables two = {{"FERRULE_EMULATION_DEVICES", "2"},
                         {"FERRULE_EMULATION_FAULT_AT", "1:cudaErrorLaunchTimeout"}};
  EXPECT_EXIT(check_with(two, check), testing::ExitedWithCode(0), "");
}

// A test whose setting was misspelt would show nothing.
TEST(SettingsDeathTest, ValueThatIsNotUnderstoodEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const auto& variable : Variables{{"FERRULE_EMULATION_DEVICES", "many"},
                                        {"FERRULE_EMULATION_ORDER", "7th"},
                                        {"FERRULE_EMULATION_CALL_FAILS", "cudaMalloc:cudaErrorUnknown"},
                                        {"FERRULE_EMULATION_CALL_LATE", "cudaMalloc"},
                                        {"FERRULE_EMULATION_FAULT_AT", "3:cudaErrorUnheardOf"}})
    EXPECT_EXIT(check_with({variable}, [] { cudaGetLastError(); }), testing::ExitedWithCode(1), variable.first);
}

}  // namespace
