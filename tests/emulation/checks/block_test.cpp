// The emulator itself: what kernels compute, and what it reports of kernels with faults.
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

__global__ void add(const float* x, const float* y, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}

TEST(Emulation, AddsVectors) {
  std::vector<float> x(10000), y(10000, 0.5F), out(10000);
  std::iota(x.begin(), x.end(), 0.0F);
  emulation::launch("add", shape(40, 256), add, x.data(), y.data(), out.data(), 10000U);
  for (unsigned i = 0; i < 10000; ++i) ASSERT_EQ(out[i], static_cast<float>(i) + 0.5F);
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

class Orders : public testing::TestWithParam<Order> {};

TEST_P(Orders, BlockSumsAreRight) {
  std::vector<int> x(16 * 512), out(16);
  std::iota(x.begin(), x.end(), 1);
  LaunchShape launched = shape(16, 512);
  launched.order = GetParam();
  emulation::launch("block_sums", launched, block_sums, x.data(), out.data(), true);
  for (int block = 0; block < 16; ++block)
    EXPECT_EQ(out[static_cast<std::size_t>(block)], 512 * 512 * block + 512 * 513 / 2);
}

INSTANTIATE_TEST_SUITE_P(Emulation, Orders, testing::Values(Order::forward, Order::reverse, Order::random));

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
  out[threadIdx.x] = __syncthreads_count(threadIdx.x % 4 == 0);
}

TEST(Emulation, BarriersWaitOnlyForThreadsThatHaveNotEnded) {
  std::vector<int> out(64);
  emulation::launch("early", shape(1, 64), early_exit, out.data());
  EXPECT_EQ(out[0], 10);
  EXPECT_EQ(out[39], 10);
  EXPECT_EQ(out[40], 0);
}

__global__ void warp_votes(unsigned* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const unsigned thirds = __ballot_sync(0xffffffff, lane % 3 == 0);
  const int all = __all_sync(0xffffffff, lane >= 0), any = __any_sync(0xffffffff, lane > 40);
  if (lane != 0) return;
  out[0] = thirds;
  out[1] = static_cast<unsigned>(all);
  out[2] = static_cast<unsigned>(any);
  out[3] = static_cast<unsigned>(warpSize);
}

TEST(Emulation, WarpsVote) {
  std::vector<unsigned> out(4);
  emulation::launch("votes", shape(1, 32), warp_votes, out.data());
  EXPECT_EQ(out, (std::vector<unsigned>{0x49249249, 1, 0, 32}));
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

__global__ void counts(unsigned* counter) { atomicAdd(counter, 1U); }

TEST(Emulation, ManySmallLaunchesAndManyBlocks) {
#if defined(__SANITIZE_THREAD__)
  const unsigned launches = 20, blocks = 300;  // a fiber takes ThreadSanitizer half a millisecond
#else
  const unsigned launches = 2000, blocks = 3000;
#endif
  unsigned counter = 0;
  for (unsigned i = 0; i < launches; ++i) emulation::launch("counts", shape(1, 64), counts, &counter);
  emulation::launch("counts", shape(blocks, 64), counts, &counter);
  EXPECT_EQ(counter, (launches + blocks) * 64);
}

// Two warps produce, two consume, with a barrier of their own for each direction.
__global__ void producers_and_consumers(int* out) {
  FERRULE_SHARED(int, box, [64]);
  const emulation::Site arrives{"bar.arrive", std::source_location::current()};
  const emulation::Site waits{"bar.sync", std::source_location::current()};
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x < 64) {
      if (round > 0) emulation::current_block->wait_at_barrier(2, 128, waits, false);
      box[threadIdx.x] = round * 100 + static_cast<int>(threadIdx.x);
      emulation::current_block->arrive_at_barrier(1, 128, arrives);
    } else {
      emulation::current_block->wait_at_barrier(1, 128, waits, false);
      out[threadIdx.x - 64] += box[127 - threadIdx.x];
      if (round < 3) emulation::current_block->arrive_at_barrier(2, 128, arrives);
    }
  }
}

TEST(Emulation, WarpsOfABlockPassValuesOnByNamedBarriers) {
  std::vector<int> out(64);
  emulation::launch("pipeline", shape(1, 128), producers_and_consumers, out.data());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], 600 + 4 * (63 - i));
}

__global__ void barrier_number_16() {
  emulation::current_block->wait_at_barrier(16, 0, {"bar.sync", std::source_location::current()}, false);
}

TEST(Emulation, BarrierThatNoBlockHasIsReported) {
  const std::string error = error_of([] { emulation::launch("f", shape(1, 1), barrier_number_16); });
  EXPECT_NE(error.find("a block has barriers 0 to 15, not 16"), std::string::npos) << error;
}

__global__ void some_wait(int* out, int rounds) {
  FERRULE_SHARED(int, values, [1024]);
  const unsigned i = threadIdx.x;
  out[blockIdx.x * blockDim.x + i] = -1;
  if (i % 3 == 1) return;  // never waits
  for (int round = 0; round < rounds; ++round) {
    values[i] = round;
    __syncthreads();
    if (i % 3 == 0) out[blockIdx.x * blockDim.x + i] = values[i + 2 < blockDim.x ? i + 2 : i] + 1;
    __syncthreads();
  }
}

TEST_P(Orders, ThreadsThatWaitAndThreadsThatDoNotMix) {
#if defined(__SANITIZE_THREAD__)
  const std::vector<unsigned> sizes{48, 5};
#else
  const std::vector<unsigned> sizes{1024, 33, 256, 1};  // blocks of other sizes use the same stacks
#endif
  for (const unsigned threads : sizes) {
    std::vector<int> out(3 * 1024);
    LaunchShape launched = shape(3, threads);
    launched.order = GetParam();
    emulation::launch("some_wait", launched, some_wait, out.data(), 5);
    for (unsigned i = 0; i < 3 * threads; ++i) ASSERT_EQ(out[i], i % threads % 3 == 0 ? 5 : -1) << i;
  }
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

__global__ void waits_at_barriers_for_ever() {
  if (threadIdx.x == 5) return;
  for (;;) __syncthreads();
}

TEST(Emulation, LoopOfBarriersThatNeverEndsIsReported) {
  const std::string error = error_of([] { emulation::launch("f", brief_shape(8), waits_at_barriers_for_ever); });
  EXPECT_NE(error.find("f: block (0, 0, 0) has not ended after 0.2 s"), std::string::npos) << error;
  EXPECT_NE(error.find("__syncthreads at " __FILE__), std::string::npos) << error;
  EXPECT_NE(error.find("thread 5: ended"), std::string::npos) << error;
}

#if !defined(__SANITIZE_THREAD__)  // which finds the races of the volatile accesses
__global__ void waits_for_another_thread(int* flags, bool sleeps) {
  volatile int* const own = flags + threadIdx.x;
  const unsigned next = (threadIdx.x + 1) % blockDim.x;
  if (threadIdx.x == 0) *own = 1;
  if (sleeps)
    while (*static_cast<volatile int*>(flags + next) == 0 && *own == 0) __nanosleep(100);
  else
    while (atomicAdd(flags + next, 0) == 0 && *own == 0) {
    }
  *own = 1;
}

TEST_P(Orders, ThreadsWaitForOthersOfTheirBlockInLoopsOfTheirOwn) {
  for (const bool sleeps : {false, true}) {
    std::vector<int> flags(64);
    LaunchShape launched = shape(1, 64);
    launched.order = GetParam();
    emulation::launch("chain", launched, waits_for_another_thread, flags.data(), sleeps);
    EXPECT_EQ(flags, std::vector<int>(64, 1));
  }
}
#endif

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

TEST(Emulation, TimeOfOtherBlocksAndLaunchesIsNotThatOfABlock) {
  std::vector<int> out(3 * 1024);
  LaunchShape launched = brief_shape(32);  // the thread sanitizer takes a millisecond for the stack of each thread
  launched.grid.x = 3;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < 3 * launched.time_limit)
    emulation::launch("some_wait", launched, some_wait, out.data(), 5);
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
  EXPECT_EQ(error_of([] { emulation::launch("f", shape(1, 1025), counts, static_cast<unsigned*>(nullptr)); }),
            "f: a block of more than 1024 x 1024 x 64 or of more than 1024 threads");
  EXPECT_EQ(error_of([] { emulation::launch("f", shape(0, 1), counts, static_cast<unsigned*>(nullptr)); }),
            "f: a grid or a block without threads");
}

}  // namespace
