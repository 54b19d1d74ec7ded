// Kernels that a module declares with FERRULE_KERNEL: how they are found, launched and refused; graphs built of them.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

extern "C" const void* code_of_other_module();

namespace {

struct WriteParameters {
  int* out;
  int value;
};
struct AppendParameters {
  char* text;
  char letter;
};
struct EmptyParameters {};

}  // namespace

FERRULE_KERNEL(write_value, WriteParameters, 64) { *p.out = p.value; }
FERRULE_KERNEL(fill_values, WriteParameters, 256) {
  FERRULE_DYNAMIC_SHARED(int, staged);
  staged[threadIdx.x] = p.value;
  __syncthreads();
  p.out[blockIdx.x * blockDim.x + threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}
FERRULE_KERNEL(static_and_dynamic, WriteParameters, 1) {
  FERRULE_SHARED(int, fixed, [4]);
  FERRULE_DYNAMIC_SHARED(int, staged);
  fixed[0] = staged[0] = p.value;
  *p.out = fixed[0] + staged[0];
}
FERRULE_KERNEL(append_letter, AppendParameters, 32) {
  if (threadIdx.x == 0) p.text[strlen(p.text)] = p.letter;
}
FERRULE_KERNEL(mask_without_the_caller, EmptyParameters, 32) { __syncwarp(2); }

namespace {

class Library : public testing::Test {
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

// A constant expression: there is nothing to initialise when the module is loaded.
constexpr const emulation::CodeImage& image = emulation::own_code_image;
static_assert(image.magic == emulation::CodeImage::right_magic);

TEST_F(Library, ImageHasEachKernelOfTheModuleOnce) {
  std::multiset<std::string> names;
  for (const auto* record = image.begin; record != image.end; ++record)
    if (*record != nullptr) names.insert((*record)->name);
  EXPECT_EQ(names, (std::multiset<std::string>{"append_letter", "fill_values", "mask_without_the_caller",
                                               "static_and_dynamic", "write_value"}));
}

TEST_F(Library, KernelRunsWithACopyOfItsParameters) {
  std::vector<int> out(512);
  ASSERT_EQ(launch(kernel("fill_values"), 2, 256, WriteParameters{out.data(), 7}, 1024), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out, std::vector<int>(512, 7));
}

TEST_F(Library, EachModuleHasItsOwnKernels) {
  cudaLibrary_t other = nullptr;
  ASSERT_EQ(load(code_of_other_module(), &other), cudaSuccess);
  cudaKernel_t theirs = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&theirs, other, "write_value"), cudaSuccess);
  int own_out = 0, other_out = 0;
  ASSERT_EQ(launch(kernel("write_value"), 1, 1, WriteParameters{&own_out, 5}), cudaSuccess);
  ASSERT_EQ(launch(theirs, 1, 1, WriteParameters{&other_out, 5}), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(own_out, 5);
  EXPECT_EQ(other_out, -5);
  EXPECT_EQ(cudaLibraryGetKernel(&theirs, library, "only_in_other_module"), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaLibraryGetKernel(&theirs, other, "fill_values"), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaLibraryUnload(other), cudaSuccess);
}

TEST_F(Library, LaunchOutlivesItsLibrary) {
  cudaLibrary_t second = nullptr;
  ASSERT_EQ(load(&image, &second), cudaSuccess);
  cudaKernel_t write = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&write, second, "write_value"), cudaSuccess);
  int out = 0;
  ASSERT_EQ(launch(write, 1, 1, WriteParameters{&out, 5}), cudaSuccess);
  ASSERT_EQ(cudaLibraryUnload(second), cudaSuccess);
  EXPECT_EQ(launch(write, 1, 1, WriteParameters{&out, 6}), cudaErrorInvalidDeviceFunction);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out, 5);
}

TEST_F(Library, WhatIsNotAnImageIsRefused) {
  cudaLibrary_t other = nullptr;
  const std::array<std::uint64_t, 3> fat_binary{0xba55ed50};
  EXPECT_EQ(load(fat_binary.data(), &other), cudaErrorInvalidKernelImage);
  EXPECT_EQ(load(nullptr, &other), cudaErrorInvalidValue);
}

TEST_F(Library, LimitOfSharedMemoryCountsBothKinds) {
  int out = 0;
  const auto* const function = static_cast<const void*>(kernel("static_and_dynamic"));
  EXPECT_EQ(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10), cudaSuccess);
  EXPECT_EQ(launch(kernel("static_and_dynamic"), 1, 1, WriteParameters{&out, 21}, 48 << 10), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out, 42);
  cudaLibrary_t fresh = nullptr;
  ASSERT_EQ(load(&emulation::own_code_image, &fresh), cudaSuccess);
  cudaKernel_t without = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&without, fresh, "static_and_dynamic"), cudaSuccess);
  EXPECT_EQ(launch(without, 1, 1, WriteParameters{&out, 21}, 48 << 10), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_NE(emulation::fault_of_device().find("more than the limit of 49152"), std::string::npos);
  emulation::forget_faults();
  EXPECT_EQ(cudaLibraryUnload(fresh), cudaSuccess);
}

TEST_F(Library, LaunchesBeyondTheLimitsOfAKernelAreRefused) {
  int out = 0;
  const WriteParameters parameters{&out, 1};
  EXPECT_EQ(launch(kernel("write_value"), 1, 65, parameters), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(launch(kernel("write_value"), 1, {32, 3}, parameters), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(launch(kernel("write_value"), 0, 1, parameters), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kernel("write_value"), 1, 2048, parameters), cudaErrorInvalidConfiguration);
  const auto* const function = static_cast<const void*>(kernel("write_value"));
  EXPECT_EQ(launch(kernel("write_value"), 1, 1, parameters, 64 << 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10), cudaSuccess);
  EXPECT_EQ(launch(kernel("write_value"), 1, 1, parameters, 64 << 10), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10),
            cudaErrorInvalidValue);
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, function), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 64);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 64 << 10);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &out), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

TEST_F(Library, ReportsNameTheKernel) {
  ASSERT_EQ(launch(kernel("mask_without_the_caller"), 1, 1, EmptyParameters{}), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  const std::string fault = emulation::fault_of_device();
  EXPECT_EQ(fault.find("mask_without_the_caller: block (0, 0, 0), thread (0, 0, 0), __syncwarp at"), 0) << fault;
}

// ---- graphs built by hand
class HandmadeGraph : public Library {
 protected:
  void SetUp() override {
    Library::SetUp();
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    Library::TearDown();
  }
  cudaError_t add_letter(char letter, const std::vector<cudaGraphNode_t>& dependencies, cudaGraphNode_t* node) {
    AppendParameters parameters{text.data(), letter};
    void* arguments[] = {&parameters};
    const cudaKernelNodeParams params = {kernel("append_letter"), 1, 32, 0, arguments, nullptr};
    return cudaGraphAddKernelNode(node, graph, dependencies.data(), dependencies.size(), &params);
  }
  std::string replay() {
    text.fill(0);
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return text.data();
  }
  cudaGraph_t graph = nullptr;
  std::array<char, 16> text{};
};

TEST_F(HandmadeGraph, RunsItsNodesAfterTheirDependencies) {
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  ASSERT_EQ(add_letter('a', {}, &a), cudaSuccess);
  ASSERT_EQ(add_letter('b', {a}, &b), cudaSuccess);
  ASSERT_EQ(add_letter('c', {a}, &c), cudaSuccess);
  ASSERT_EQ(add_letter('d', {b, c}, &d), cudaSuccess);
  setenv("FERRULE_EMULATION_ORDER", "forward", 1);
  EXPECT_EQ(replay(), "abcd");
  // Another order that the dependencies allow.
  setenv("FERRULE_EMULATION_ORDER", "reverse", 1);
  EXPECT_EQ(replay(), "acbd");
  unsetenv("FERRULE_EMULATION_ORDER");
}

TEST_F(HandmadeGraph, DependenciesOfAnotherGraphAreRefused) {
  cudaGraphNode_t own = nullptr, node = nullptr;
  ASSERT_EQ(add_letter('a', {}, &own), cudaSuccess);
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  std::swap(graph, other);
  EXPECT_EQ(add_letter('b', {own}, &node), cudaErrorInvalidValue);
  std::swap(graph, other);
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
  EXPECT_EQ(add_letter('b', {own, own}, &node), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphCreate(&other, 1), cudaErrorInvalidValue);
}

TEST_F(HandmadeGraph, NodesArePatched) {
  cudaGraphNode_t a = nullptr, b = nullptr;
  ASSERT_EQ(add_letter('a', {}, &a), cudaSuccess);
  ASSERT_EQ(add_letter('b', {a}, &b), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  AppendParameters parameters{text.data(), 'x'};
  void* arguments[] = {&parameters};
  cudaKernelNodeParams params = {kernel("append_letter"), 1, 32, 0, arguments, nullptr};
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(executable, b, &params), cudaSuccess);
  params.blockDim = 64;
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, b, &params), cudaErrorLaunchOutOfResources);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_STREQ(text.data(), "ax");
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

}  // namespace
