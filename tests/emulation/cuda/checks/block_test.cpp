// Tests the emulator's reports of faults in kernels: one case for each kind of fault.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <csignal>
#include <chrono>
#include <numeric>
#include <vector>

namespace {

using emulation::KernelError;
using emulation::LaunchShape;
using emulation::Order;

LaunchShape shape(unsigned grid, unsigned block) {
  LaunchShape made;
  made.grid.x = grid;
  made.block.x = block;
  return made;
}

template <class Launch>
std::string error_of(const Launch& launch) {
  try {
    launch();
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

// The sum of each block's numbers by shuffles and shared memory.
__global__ void block_sums(const int* x, int* out, bool with_barrier) {
  FERRULE_SHARED(int, partial, [32]);
  int sum = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  if (with_barrier) __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) total += partial[warp];
    out[blockIdx.x] = total;
  }
}

TEST(Emulation, BlockSumsAreRightInEachOrder) {
  for (const Order order : {Order::forward, Order::reverse, Order::random}) {
    std::vector<int> x(16 * 512), out(16);
    std::iota(x.begin(), x.end(), 1);
    LaunchShape launched = shape(16, 512);
    launched.order = order;
    emulation::launch("block_sums", launched, block_sums, x.data(), out.data(), true);
    for (int block = 0; block < 16; ++block)
      EXPECT_EQ(out[static_cast<std::size_t>(block)], 512 * 512 * block + 512 * 513 / 2);
  }
}

#if !defined(__SANITIZE_THREAD__)  // which finds the race itself: races.cpp
TEST(Emulation, MissingBarrierGivesAnotherResult) {
  std::vector<int> x(512, 1), out(1);
  emulation::launch("block_sums", shape(1, 512), block_sums, x.data(), out.data(), false);
  EXPECT_NE(out[0], 512);
}
#endif

__global__ void barrier_of_half_the_block() {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __shfl_sync(0xffffffff, 1, threadIdx.x == 40 ? 0 : 1), __syncthreads();
}

TEST(Emulation, BarrierFromTwoLinesIsReported) {
  const std::string error = error_of([] { emulation::launch("halves", shape(1, 64), barrier_of_half_the_block); });
  EXPECT_NE(error.find("a barrier must be reached by all threads from one line"), std::string::npos) << error;
  EXPECT_NE(error.find("block_test.cpp:"), std::string::npos) << error;
}

__global__ void shuffle_of_some_lanes(int* out) {
  if (threadIdx.x % 2 == 0) out[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0);
  __syncthreads();
}

TEST(Emulation, FullMaskInADivergentBranchIsADeadlockWithLinesAndThreads) {
  std::vector<int> out(32);
  const std::string error =
      error_of([&] { emulation::launch("divergent", shape(1, 32), shuffle_of_some_lanes, out.data()); });
  EXPECT_NE(error.find("divergent: block (0, 0, 0) is in a deadlock:"), std::string::npos) << error;
  EXPECT_NE(error.find("threads 1, 3, 5, 7"), std::string::npos) << error;
  EXPECT_NE(error.find("in __shfl_sync at "), std::string::npos) << error;
  EXPECT_NE(error.find("with the mask 0xffffffff"), std::string::npos) << error;
}

__global__ void shuffle_without_the_caller() { __shfl_sync(1, threadIdx.x, 0); }

TEST(Emulation, MaskWithoutTheCallingLaneIsReported) {
  const std::string error = error_of([] { emulation::launch("f", shape(1, 2), shuffle_without_the_caller); });
  EXPECT_NE(error.find("thread (1, 0, 0)"), std::string::npos) << error;
  EXPECT_NE(error.find("the mask 0x1 lacks the calling lane 1"), std::string::npos) << error;
}

__global__ void read_of_an_ended_lane(int* out) {
  if (threadIdx.x == 3) return;
  out[threadIdx.x] = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x), 3);
}

TEST(Emulation, ValueOfAnEndedLaneIsReported) {
  std::vector<int> out(32);
  const std::string error = error_of([&] { emulation::launch("f", shape(1, 32), read_of_an_ended_lane, out.data()); });
  EXPECT_NE(error.find("lane 3, whose value is read, did not take part"), std::string::npos) << error;
}

__global__ void early_exit(int* out) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}

TEST(Emulation, BarriersWaitOnlyForThreadsThatHaveNotEnded) {
  std::vector<int> out(64);
  emulation::launch("early", shape(1, 64), early_exit, out.data());
  EXPECT_EQ(out[39], 1);
  EXPECT_EQ(out[40], 0);
}

__global__ void reads_fresh_shared_memory(float* out) {
  FERRULE_SHARED(float, fresh, [4]);
  out[threadIdx.x] = fresh[threadIdx.x];
}

TEST(Emulation, FreshSharedMemoryIsNaN) {
  std::vector<float> out(4);
  emulation::launch("fresh", shape(1, 4), reads_fresh_shared_memory, out.data());
  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

#if defined(__SANITIZE_ADDRESS__)
__global__ void writes_beyond(int index) {
  FERRULE_SHARED(int, values, [32]);
  __syncthreads();
  int* const first = values;
  first[index] = 1;
}

TEST(EmulationDeathTest, AddressSanitizerFindsAnAccessBeyondSharedMemory) {
  EXPECT_DEATH(emulation::launch("writes_beyond", shape(1, 32), writes_beyond, 32), "heap-buffer-overflow");
}
#endif

// ---- threads that wait in loops of their own
LaunchShape brief_shape(unsigned threads) {
  LaunchShape made = shape(1, threads);
  made.time_limit = std::chrono::milliseconds(200);
  return made;
}

__global__ void waits_for_a_flag(int* flag) {
  if (threadIdx.x != 2) __syncwarp(0xfffffffb);
  while (atomicAdd(flag, 0) == 0) {
  }
}

TEST(Emulation, LoopOfAtomicFunctionsThatNeverEndsIsReportedWithLinesAndThreads) {
  int flag = 0;
  const std::string error = error_of([&] { emulation::launch("spins", brief_shape(32), waits_for_a_flag, &flag); });
  EXPECT_NE(error.find("spins: block (0, 0, 0) has not ended after 0.2 s of the processor's time:\n"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("threads 0-31: in atomicAdd at " __FILE__ ":"), std::string::npos) << error;
}

__global__ void reads_a_flag(const int* flag) {
  if (threadIdx.x % 32 != 3) __syncthreads();
  while (*static_cast<const volatile int*>(flag) == 0) {
  }
}

TEST(EmulationDeathTest, LoopThatCallsNothingEndsTheProcessAndIsNamed) {
  const int flag = 0;
  EXPECT_EXIT(
      emulation::launch("spins", brief_shape(64), reads_a_flag, &flag), testing::KilledBySignal(SIGABRT),
      "spins: block \\(0, 0, 0\\) has not ended after 0.2 s of the processor's time, and a thread of it does not come "
      "back to the emulator:\n"
      "(.|\n)*threads 0-2: in __syncthreads at .*block_test.cpp:[0-9]+\n"
      "(.|\n)*thread 3: in a loop\n"
      "(.|\n)*threads 4-63: not begun\n"
      "(.|\n)*addr2line -Cfie .*emulation-tests 0x[0-9a-f]+\n");
}

TEST(Emulation, LaunchAfterAFaultFindsNothingOfIt) {
  std::vector<int> x(64, 1), out(64);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(error_of([] { emulation::launch("halves", shape(1, 64), barrier_of_half_the_block); }), "");
    emulation::launch("block_sums", shape(1, 64), block_sums, x.data(), out.data(), true);
    EXPECT_EQ(out[0], 64);
  }
}

TEST(Emulation, ImpossibleLaunchesAreRefused) {
  EXPECT_NE(error_of([] { emulation::launch("f", shape(1, 1025), barrier_of_half_the_block); }), "");
  EXPECT_NE(error_of([] { emulation::launch("f", shape(0, 1), barrier_of_half_the_block); }), "");
}

}  // namespace
