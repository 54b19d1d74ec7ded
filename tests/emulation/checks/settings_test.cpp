// Environment variables that choose a machine and its faults. Each check runs in a process of its own.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

using Variables = std::vector<std::pair<const char*, const char*>>;

[[noreturn]] void check_with(const Variables& variables, void (*check)()) {
  for (const auto& [name, value] : variables) setenv(name, value, 1);
  check();
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

class SettingsDeathTest : public testing::Test {
 protected:
  static void passes(const Variables& variables, void (*check)()) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(check_with(variables, check), testing::ExitedWithCode(0), "");
  }
};

TEST_F(SettingsDeathTest, OldDriverFailsAllCalls) {
  passes({{"FERRULE_EMULATION_DRIVER", "11080"}}, [] {
    int value = 77;
    EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
    EXPECT_EQ(value, 11080);
    value = 77;
    EXPECT_EQ(cudaGetDeviceCount(&value), cudaErrorInsufficientDriver);
    EXPECT_EQ(value, 77);
    EXPECT_EQ(cudaSetDevice(0), cudaErrorInsufficientDriver);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInsufficientDriver);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInsufficientDriver);  // as libcudart 13.0
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 0), cudaErrorInsufficientDriver);
    cudaLibrary_t library = nullptr;
    EXPECT_EQ(cudaLibraryLoadData(&library, &emulation::own_code_image, nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaErrorInsufficientDriver);
  });
}

TEST_F(SettingsDeathTest, NewerDriverWorks) {
  passes({{"FERRULE_EMULATION_DRIVER", "13010"}}, [] {
    int value = 0;
    EXPECT_EQ(cudaGetDeviceCount(&value), cudaSuccess);
    EXPECT_EQ(value, 1);
  });
}

TEST_F(SettingsDeathTest, MachineWithoutDevices) {
  passes({{"FERRULE_EMULATION_DEVICES", "0"}}, [] {
    int value = 0;
    EXPECT_EQ(cudaGetDeviceCount(&value), cudaErrorNoDevice);
    EXPECT_EQ(cudaSetDevice(0), cudaErrorNoDevice);
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorNoDevice);
    EXPECT_EQ(cudaFree(nullptr), cudaErrorNoDevice);
  });
}

TEST_F(SettingsDeathTest, ProhibitedDeviceIsListedButNotOpened) {
  passes({{"FERRULE_EMULATION_COMPUTE_MODE", "prohibited"}}, [] {
    int value = 0;
    EXPECT_EQ(cudaGetDeviceCount(&value), cudaSuccess);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0), cudaSuccess);
    EXPECT_EQ(value, cudaComputeModeProhibited);
    EXPECT_EQ(cudaSetDevice(0), cudaErrorDevicesUnavailable);
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 0), cudaErrorDevicesUnavailable);
  });
}

TEST_F(SettingsDeathTest, ChosenOperationFailsAndSoDoesAllThatFollows) {
  passes({{"FERRULE_EMULATION_FAULT_AT", "3:cudaErrorECCUncorrectable"}}, [] {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 0), cudaSuccess);
    char bytes[4] = {0, 0, 0, 0};
    ASSERT_EQ(cudaMemsetAsync(bytes, 1, 1, stream), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(bytes + 1, 1, 1, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(bytes + 2, 1, 1, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorECCUncorrectable);
    EXPECT_EQ(cudaMemsetAsync(bytes + 3, 1, 1, stream), cudaErrorECCUncorrectable);
    EXPECT_EQ(bytes[1], 1);
    EXPECT_EQ(bytes[2], 0);
    EXPECT_EQ(bytes[3], 0);
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorECCUncorrectable);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorECCUncorrectable);
    EXPECT_NE(emulation::fault_of_device().find("operation 3"), std::string::npos);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorECCUncorrectable);
  });
}

__global__ void adds_one(int* out) { *out += 1; }

TEST_F(SettingsDeathTest, NodesOfGraphsAreCounted) {
  passes({{"FERRULE_EMULATION_FAULT_AT", "4:700"}}, [] {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 0), cudaSuccess);
    int out = 0;
    int* pointer = &out;
    void* arguments[] = {&pointer};
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaLaunchKernel(adds_one, 1, 1, arguments, 0, stream), cudaSuccess);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(&out, 0, sizeof out, stream), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
    EXPECT_EQ(out, 2);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  });
}

TEST_F(SettingsDeathTest, FaultStaysOnItsDevice) {
  passes({{"FERRULE_EMULATION_DEVICES", "2"}, {"FERRULE_EMULATION_FAULT_AT", "1:cudaErrorLaunchTimeout"}}, [] {
    cudaStream_t first = nullptr, second = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&first, 0), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&second, 0), cudaSuccess);
    char byte = 0;
    ASSERT_EQ(cudaMemsetAsync(&byte, 1, 1, first), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaErrorLaunchTimeout);
    ASSERT_EQ(cudaMemsetAsync(&byte, 2, 1, second), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
    EXPECT_EQ(byte, 2);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
  });
}

TEST_F(SettingsDeathTest, TwoDevicesCopyToEachOtherAndKeepTheirStreams) {
  passes({{"FERRULE_EMULATION_DEVICES", "2"}}, [] {
    int can_access = 0;
    EXPECT_EQ(cudaDeviceCanAccessPeer(&can_access, 0, 1), cudaSuccess);
    EXPECT_EQ(can_access, 1);
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    void *from = nullptr, *to = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 0), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&from, 4), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&to, 4), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&event, 0), cudaSuccess);
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, to), cudaSuccess);
    EXPECT_EQ(attributes.device, 1);
    EXPECT_EQ(cudaMemsetAsync(from, 7, 4, stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpyPeerAsync(to, 1, from, 0, 4, stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpyPeerAsync(to, 2, from, 0, 4, stream), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(*static_cast<int*>(to), 0x07070707);
    // Kernels and events belong to a device.
    void* arguments[] = {&to};
    EXPECT_EQ(cudaLaunchKernel(adds_one, 1, 1, arguments, 0, stream), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaFree(from), cudaSuccess);
    EXPECT_EQ(cudaFree(to), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  });
}

// The numbers of the machine's GPUs that a process sees, by the PCI addresses.
std::vector<int> seen() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<int> gpus;
  for (int device = 0; device < count; ++device) {
    int gpu = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&gpu, cudaDevAttrPciDeviceId, device), cudaSuccess);
    gpus.push_back(gpu);
  }
  return gpus;
}

TEST_F(SettingsDeathTest, VisibleDevicesAreThoseOfTheVariableInItsOrder) {
  using Gpus = std::vector<int>;
  const std::pair<const char*, void (*)()> cases[] = {
      {"2,0",
       [] {
         EXPECT_EQ(seen(), (Gpus{2, 0}));
       }},
      {"", [] { EXPECT_EQ(seen(), Gpus{}); }},
      {"1,-1,2", [] { EXPECT_EQ(seen(), Gpus{1}); }},  // the list ends before an invalid entry
      {"3", [] { EXPECT_EQ(seen(), Gpus{}); }},
      {"all", [] { EXPECT_EQ(seen(), Gpus{}); }},
      {"GPU-656d756c-6174-6564-2d30-310000000000", [] { EXPECT_EQ(seen(), Gpus{1}); }},
      {"GPU-656d756c-6174-6564-2d30-32,0",
       [] {
         EXPECT_EQ(seen(), (Gpus{2, 0}));
       }},
      {"GPU-656d", [] { EXPECT_EQ(seen(), Gpus{}); }},  // that is the beginning of several
  };
  for (const auto& [value, check] : cases)
    passes({{"FERRULE_EMULATION_DEVICES", "3"}, {"CUDA_VISIBLE_DEVICES", value}}, check);
}

TEST_F(SettingsDeathTest, OneInstanceOfADividedGpuIsVisible) {
  const Variables machine = {{"FERRULE_EMULATION_DEVICES", "2"}, {"FERRULE_EMULATION_MIG", "2"}};
  passes(machine, [] { EXPECT_EQ(seen(), std::vector<int>{0}); });
  Variables variables = machine;
  variables.emplace_back("CUDA_VISIBLE_DEVICES",
                         "MIG-656d756c-6174-6564-2d30-312f32000000,MIG-656d756c-6174-6564-2d30-30");
  passes(variables, [] {
    EXPECT_EQ(seen(), std::vector<int>{1});
    cudaDeviceProp properties{};
    ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    EXPECT_STREQ(properties.uuid.bytes, "emulated-01/2");
    EXPECT_STREQ(properties.name, "emulated MIG 1g.4gb");
  });
}

TEST_F(SettingsDeathTest, DeviceOfAnotherProcessIsListedButNotOpened) {
  passes({{"FERRULE_EMULATION_COMPUTE_MODE", "taken"}}, [] {
    EXPECT_EQ(seen(), std::vector<int>{0});
    int mode = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0), cudaSuccess);
    EXPECT_EQ(mode, cudaComputeModeExclusiveProcess);
    EXPECT_EQ(cudaSetDevice(0), cudaErrorDevicesUnavailable);
  });
}

TEST_F(SettingsDeathTest, ChosenCallFailsOnceUnlessItsErrorLasts) {
  passes({{"FERRULE_EMULATION_CALL_FAILS", "cudaMalloc:2:cudaErrorMemoryAllocation"}}, [] {
    void* pointers[3] = {};
    EXPECT_EQ(cudaMalloc(&pointers[0], 1), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&pointers[1], 1), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaMalloc(&pointers[2], 1), cudaSuccess);
    cudaFree(pointers[0]);
    cudaFree(pointers[2]);
  });
  passes({{"FERRULE_EMULATION_CALL_FAILS", "*:3:cudaErrorECCUncorrectable"}}, [] {
    EXPECT_EQ(seen(), std::vector<int>{0});
    EXPECT_EQ(cudaSetDevice(0), cudaErrorECCUncorrectable);
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorECCUncorrectable);
  });
  passes({{"FERRULE_EMULATION_CALL_FAILS", "cudaMalloc:*:cudaErrorUnknown:passes"}}, [] {
    void* pointer = nullptr;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorUnknown);
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  });
}

TEST_F(SettingsDeathTest, FirstCallsOfAFunctionAreLate) {
  passes({{"FERRULE_EMULATION_CALL_LATE", "cudaSetDevice:2"}}, [] {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(10));
  });
}

TEST_F(SettingsDeathTest, LogHasEachCallAndEachContext) {
  const std::string path = testing::TempDir() + "ferrule_emulation_log";
  std::remove(path.c_str());
  passes({{"FERRULE_EMULATION_LOG", path.c_str()}, {"FERRULE_EMULATION_DEVICES", "2"}}, [] {
    EXPECT_EQ(seen().size(), 2U);
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  });
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text,
            "cudaGetDeviceCount\ncudaDeviceGetAttribute\ncudaDeviceGetAttribute\ncudaSetDevice\ncontext 1\n"
            "cudaFree\n");
  std::remove(path.c_str());
}

__global__ void waits_for_ever(unsigned* flag) {
  while (atomicCAS(flag, 1, 1) == 0) {
  }
}

TEST_F(SettingsDeathTest, BlockThatTakesLongerThanTheVariableSaysIsAFault) {
  passes({{"FERRULE_EMULATION_BLOCK_SECONDS", "1"}}, [] {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 0), cudaSuccess);
    unsigned flag = 0;
    unsigned* pointer = &flag;
    void* arguments[] = {&pointer};
    ASSERT_EQ(cudaLaunchKernel(waits_for_ever, 1, 1, arguments, 0, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
    EXPECT_NE(emulation::fault_of_device().find("has not ended after 1 s"), std::string::npos);
    EXPECT_NE(emulation::fault_of_device().find("thread 0: in atomicCAS at "), std::string::npos);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorLaunchFailure);
  });
}

TEST_F(SettingsDeathTest, NumberOfMultiprocessorsIsThatOfTheVariable) {
  passes({{"FERRULE_EMULATION_MULTIPROCESSORS", "132"}}, [] {
    int count = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
    EXPECT_EQ(count, 132);
  });
}

TEST_F(SettingsDeathTest, ValueThatIsNotUnderstoodEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const auto& variable : Variables{{"FERRULE_EMULATION_DEVICES", "many"},
                                        {"FERRULE_EMULATION_DEVICES", "17"},
                                        {"FERRULE_EMULATION_CAPABILITY", "9"},
                                        {"FERRULE_EMULATION_COMPUTE_MODE", "shared"},
                                        {"FERRULE_EMULATION_MIG", "8"},
                                        {"FERRULE_EMULATION_MULTIPROCESSORS", "-1"},
                                        {"FERRULE_EMULATION_INTEGRATED", "2"},
                                        {"FERRULE_EMULATION_ORDER", "Reverse"},
                                        {"FERRULE_EMULATION_ORDER", "7th"},
                                        {"FERRULE_EMULATION_PAGEABLE", "2"},
                                        {"FERRULE_EMULATION_BLOCK_SECONDS", "-1"},
                                        {"FERRULE_EMULATION_BLOCK_SECONDS", "1000001"},
                                        {"FERRULE_EMULATION_CALL_FAILS", "cudaMalloc:cudaErrorUnknown"},
                                        {"FERRULE_EMULATION_CALL_LATE", "cudaMalloc"},
                                        {"FERRULE_EMULATION_CALL_LATE", "cudaMalloc:*"},
                                        {"FERRULE_EMULATION_FAULT_AT", "3:cudaErrorUnheardOf"}})
    EXPECT_EXIT(check_with({variable}, [] { cudaGetLastError(); }), testing::ExitedWithCode(1), variable.first);
}

}  // namespace
