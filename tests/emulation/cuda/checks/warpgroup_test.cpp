// TMA, mbarriers and wgmma: products of tiles in each layout, and the faults that a kernel with them may have.
#include <cuda.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace emulation;

constexpr unsigned rows = 64, columns = 128, depth = 64, row_bytes = 128, tile_bytes = 64 * row_bytes;

enum class Fault {
  none,
  no_proxy_fence,   // after the barrier is made
  no_barrier_wait,  // for the tiles
  too_many_bytes,   // are expected
  too_few_bytes,    // are expected
  wrong_parity,     // is waited for
  second_wait,      // for a phase that nobody ends
  unaligned_tile,   // in shared memory
  no_fence,         // wgmma.fence
  no_commit,        // wgmma.commit_group
  no_wait,          // wgmma.wait_group
  wrong_swizzle,    // in the descriptors
  wrong_stride,     // in the descriptors
  wrong_leading,    // in the descriptors
  early_overwrite,  // of a tile that wgmma reads
  early_write,      // of a thread, to such a tile
  different_lanes   // one lane issues no instruction
};

struct Operands {
  const CUtensorMap *a, *b;
  float* out;
  bool is_bfloat16, a_along_k, b_along_k;
  Fault fault;
};

// Starts the copy of 64 items along K of `outers` rows or columns; in the other layout, 64 of those at a time.
void start_copy(std::byte* tile, const CUtensorMap* map, bool along_k, unsigned outers, std::uint64_t* barrier) {
  for (unsigned outer = 0; outer < outers; outer += along_k ? outers : 64) {
    const std::int32_t at[3] = {along_k ? 0 : static_cast<std::int32_t>(outer), 0, 0};
    copy_tile(tile + std::size_t{outer} * row_bytes, map, at, 3, barrier);
  }
}

std::uint64_t descriptor(const std::byte* tile, bool along_k, unsigned k, Fault fault) {
  const unsigned swizzle = fault == Fault::wrong_swizzle ? 64 : 128;
  const unsigned stride = fault == Fault::wrong_stride ? 512 : 1024;
  if (along_k) return matrix_descriptor(tile + std::size_t{k} * 2, 16, stride, swizzle);
  const unsigned leading = fault == Fault::wrong_leading ? 1024 : tile_bytes;
  return matrix_descriptor(tile + std::size_t{k} * row_bytes, leading, stride, swizzle);
}

// out = a b, for one tile, by one warp group.
__global__ void product(const Operands& p) {
  FERRULE_DYNAMIC_SHARED(std::byte, memory);
  FERRULE_SHARED(std::uint64_t, barrier, [1]);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % 1024;
  std::byte* const a = memory + (1024 - past) % 1024 + (p.fault == Fault::unaligned_tile ? 512 : 0);
  std::byte* const b = a + tile_bytes;
  const bool leads = threadIdx.x == 0;
  if (leads) {
    mbarrier_init(barrier, 1);
    if (p.fault != Fault::no_proxy_fence) fence_proxy_async();
  }
  __syncthreads();
  if (leads) {
    const unsigned bytes = (rows + columns) * row_bytes;
    mbarrier_arrive_expect_tx(barrier, p.fault == Fault::too_many_bytes  ? bytes + 16
                                       : p.fault == Fault::too_few_bytes ? tile_bytes
                                                                         : bytes);
    start_copy(a, p.a, p.a_along_k, rows, barrier);
    start_copy(b, p.b, p.b_along_k, columns, barrier);
  }
  if (p.fault != Fault::no_barrier_wait) mbarrier_wait(barrier, p.fault == Fault::wrong_parity ? 1 : 0);
  if (p.fault == Fault::second_wait) mbarrier_wait(barrier, 1);
  float sums[columns / 2] = {};
  if (p.fault != Fault::no_fence) wgmma_fence();
  for (unsigned k = 0; k < depth; k += 16) {
    if (p.fault == Fault::different_lanes && threadIdx.x == 5 && k == 48) break;
    wgmma(sums,
          {columns, p.is_bfloat16, descriptor(a, p.a_along_k, k, p.fault), descriptor(b, p.b_along_k, k, p.fault),
           p.a_along_k, p.b_along_k},
          true);
  }
  if (p.fault != Fault::no_commit) wgmma_commit();
  if (p.fault == Fault::early_overwrite && leads) {
    mbarrier_arrive_expect_tx(barrier, columns * row_bytes);
    start_copy(a, p.b, p.b_along_k, columns, barrier);
  }
  if (p.fault == Fault::early_write && leads) std::memset(b + std::size_t{127} * row_bytes, 0, 16);
  if (p.fault == Fault::early_overwrite || p.fault == Fault::early_write) __syncthreads();
  if (p.fault != Fault::no_wait) wgmma_wait(0);
  for (unsigned i = 0; i < columns / 2; ++i) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned row = threadIdx.x / 32 * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    p.out[row * columns + column] = sums[i];
  }
}

// A matrix of small integers, OUTER rows along K or K rows along OUTER, and its tensor map.
struct Matrix {
  Matrix(unsigned outer_count, bool is_along_k, bool is_bfloat16, unsigned seed)
      : outers(outer_count), along_k(is_along_k) {
    std::mt19937 random(seed);
    values.resize(std::size_t{outers} * depth);
    items.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(random() % 17) - 8;
      items[i] = is_bfloat16 ? bfloat16_bits(values[i]) : float16_bits(values[i]);
    }
    const cuuint64_t sizes[] = {along_k ? depth : outers, along_k ? outers : depth, 1};
    const cuuint64_t strides[] = {sizes[0] * 2, sizes[0] * 2};
    const cuuint32_t box[] = {64, along_k ? outers : 64, 1}, steps[] = {1, 1, 1};
    EXPECT_EQ(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, items.data(), sizes, strides, box, steps,
                                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              CUDA_SUCCESS);
  }
  float at(unsigned outer, unsigned k) const { return values[along_k ? outer * depth + k : k * outers + outer]; }
  unsigned outers;
  bool along_k;
  std::vector<float> values;
  std::vector<std::uint16_t> items;
  CUtensorMap map{};
};

struct Result {
  std::string error;
  unsigned wrong = 0, nans = 0;
};

Result multiply(bool a_along_k, bool b_along_k, bool is_bfloat16, Fault fault, Order order = Order::forward) {
  const Matrix a(rows, a_along_k, is_bfloat16, 1), b(columns, b_along_k, is_bfloat16, 2);
  std::vector<float> out(std::size_t{rows} * columns);
  LaunchShape shape;
  shape.block.x = 128;
  shape.dynamic_shared = 3 * tile_bytes + 1024 + 512;
  shape.order = order;
  const Operands operands{&a.map, &b.map, out.data(), is_bfloat16, a_along_k, b_along_k, fault};
  Result result;
  try {
    run_grid("product", shape, [&] { product(operands); });
  } catch (const KernelError& error) {
    result.error = error.what();
    return result;
  }
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < columns; ++column) {
      float sum = 0;
      for (unsigned k = 0; k < depth; ++k) sum += a.at(row, k) * b.at(column, k);
      const float got = out[row * columns + column];
      result.nans += std::isnan(got) ? 1 : 0;
      result.wrong += got == sum ? 0 : 1;
    }
  return result;
}

TEST(Warpgroup, ProductWithoutAFaultIsRight) {
  for (const Order order : {Order::forward, Order::reverse, Order::random}) {
    const Result result = multiply(true, false, false, Fault::none, order);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.wrong, 0U);
  }
}

TEST(Warpgroup, MissingFencesAreReported) {
  EXPECT_NE(multiply(true, true, false, Fault::no_proxy_fence).error.find("has not called fence.proxy.async since"),
            std::string::npos);
  EXPECT_NE(multiply(true, true, false, Fault::no_fence).error.find("wgmma.fence is missing"), std::string::npos);
}

TEST(Warpgroup, SumsAreNaNUntilTheirGroupHasEnded) {
  for (const Fault fault : {Fault::no_commit, Fault::no_wait}) {
    const Result result = multiply(true, true, false, fault);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.nans, rows * columns);
  }
}

// The copies start or arrive while wgmma reads the tiles, or arrive after the block has ended.
TEST(Warpgroup, TilesThatHaveNotArrivedShow) {
  for (const Fault fault : {Fault::no_barrier_wait, Fault::wrong_parity})
    for (const Order order : {Order::forward, Order::reverse, Order::random}) {
      const std::string error = multiply(true, true, false, fault, order).error;
      EXPECT_TRUE(error.find("has changed since the wgmma") != std::string::npos ||
                  error.find("reads the target") != std::string::npos ||
                  error.find("has ended before copies of tiles") != std::string::npos)
          << error;
    }
}

TEST(Warpgroup, WaitForThePhaseAfterTheLastOneIsADeadlock) {
  const std::string error = multiply(true, true, false, Fault::second_wait).error;
  EXPECT_NE(error.find("where phase 1 lacks 1 arrival"), std::string::npos) << error;
}

TEST(Warpgroup, ExpectedBytesThatDoNotComeAreADeadlock) {
  const std::string error = multiply(true, true, false, Fault::too_many_bytes).error;
  EXPECT_NE(error.find("is in a deadlock"), std::string::npos) << error;
  EXPECT_NE(error.find("threads 0-127: in mbarrier.try_wait"), std::string::npos) << error;
  EXPECT_NE(error.find("where phase 0 lacks 16 bytes"), std::string::npos) << error;
}

// The phase ends too early if the copies that arrive first have as many bytes as are expected.
TEST(Warpgroup, BytesThatAreNotExpectedAreReported) {
  const std::string newest = multiply(true, true, false, Fault::too_few_bytes, Order::forward).error;
  EXPECT_NE(newest.find("where phase 0 lacks -16384 bytes"), std::string::npos) << newest;
  const std::string oldest = multiply(true, true, false, Fault::too_few_bytes, Order::reverse).error;
  EXPECT_NE(oldest.find("has ended before copies of tiles"), std::string::npos) << oldest;
}

TEST(Warpgroup, WrongDescriptorsGiveAnotherProduct) {
  EXPECT_GT(multiply(true, true, false, Fault::wrong_swizzle).wrong, rows * columns / 2);
  EXPECT_GT(multiply(true, true, false, Fault::wrong_stride).wrong, rows * columns / 2);
  EXPECT_GT(multiply(true, false, false, Fault::wrong_stride).wrong, rows * columns / 2);
  EXPECT_GT(multiply(true, false, false, Fault::wrong_leading).wrong, rows * columns / 4);
}

TEST(Warpgroup, TileThatWgmmaStillReadsMustNotBeOverwritten) {
  EXPECT_NE(multiply(true, true, false, Fault::early_overwrite).error.find("reads the target"), std::string::npos);
  EXPECT_NE(multiply(true, true, false, Fault::early_write).error.find("has changed since the wgmma"),
            std::string::npos);
}

TEST(Warpgroup, TargetsOfSwizzledCopiesAreAligned) {
  EXPECT_NE(multiply(true, true, false, Fault::unaligned_tile).error.find("not a multiple of 1024 bytes"),
            std::string::npos);
}

TEST(Warpgroup, LanesIssueTheSameInstructions) {
  EXPECT_NE(multiply(true, true, false, Fault::different_lanes).error.find("different numbers of wgmma"),
            std::string::npos);
}

// A ring of two slots: warp 4 copies, warps 0 to 3 multiply. Six steps.
enum class RingFault { none, early_release, release_by_one_warp, no_wait_for_empty, wait_for_next_slot };

struct Ring {
  const CUtensorMap *a, *b;
  float* out;
  RingFault fault;
};

__global__ void ring(const Ring& p) {
  constexpr unsigned slots = 2, steps = 6, slot_bytes = (rows + columns) * row_bytes;
  FERRULE_DYNAMIC_SHARED(std::byte, memory);
  FERRULE_SHARED(std::uint64_t, full, [slots]);
  FERRULE_SHARED(std::uint64_t, empty, [slots]);
  std::byte* const tiles = memory + (1024 - reinterpret_cast<std::uintptr_t>(memory) % 1024) % 1024;
  if (threadIdx.x == 0) {
    for (unsigned slot = 0; slot < slots; ++slot) {
      mbarrier_init(full + slot, 1);
      mbarrier_init(empty + slot, p.fault == RingFault::release_by_one_warp ? 1 : 4);
    }
    fence_proxy_async();
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    for (unsigned step = 0; step < steps && threadIdx.x == 128; ++step) {
      const unsigned slot = step % slots;
      if (p.fault != RingFault::no_wait_for_empty) mbarrier_wait(empty + slot, step / slots % 2 ^ 1);
      mbarrier_arrive_expect_tx(full + slot, slot_bytes);
      start_copy(tiles + slot * slot_bytes, p.a, true, rows, full + slot);
      start_copy(tiles + slot * slot_bytes + tile_bytes, p.b, true, columns, full + slot);
    }
    return;
  }
  float sums[columns / 2] = {};
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned slot = step % slots;
    mbarrier_wait(full + (p.fault == RingFault::wait_for_next_slot ? (slot + 1) % slots : slot), step / slots % 2);
    const std::byte* const a = tiles + slot * slot_bytes;
    wgmma_fence();
    for (unsigned k = 0; k < depth; k += 16)
      wgmma(sums,
            {columns, false, descriptor(a, true, k, Fault::none), descriptor(a + tile_bytes, true, k, Fault::none),
             true, true},
            true);
    wgmma_commit();
    const auto release = [&] {
      const unsigned first = p.fault == RingFault::release_by_one_warp ? 128 : 32;
      if (threadIdx.x % first == 0) mbarrier_arrive(empty + slot);
    };
    if (p.fault == RingFault::early_release) release();
    wgmma_wait(0);
    if (p.fault != RingFault::early_release) release();
  }
  for (unsigned i = 0; i < columns / 2; ++i) p.out[threadIdx.x * columns / 2 + i] = sums[i];
}

std::string run_ring(RingFault fault, Order order) {
  const Matrix a(rows, true, false, 1), b(columns, true, false, 2);
  std::vector<float> out(std::size_t{rows} * columns);
  LaunchShape shape;
  shape.block.x = 160;
  shape.dynamic_shared = 6 * tile_bytes + 1024;
  shape.order = order;
  try {
    launch("ring", shape, ring, Ring{&a.map, &b.map, out.data(), fault});
  } catch (const KernelError& error) {
    return error.what();
  }
  for (const float sum : out)
    if (std::isnan(sum)) return "NaN";
  return "";
}

TEST(Warpgroup, SlotsOfARingAreReleasedAfterTheirInstructions) {
  for (const Order order : {Order::forward, Order::reverse, Order::random}) {
    EXPECT_EQ(run_ring(RingFault::none, order), "");
    EXPECT_NE(run_ring(RingFault::early_release, order).find("reads the target"), std::string::npos);
    EXPECT_NE(run_ring(RingFault::no_wait_for_empty, order), "");
  }
  // Which warp goes on first, and which copy arrives first, depends on the order.
  for (const RingFault fault : {RingFault::release_by_one_warp, RingFault::wait_for_next_slot})
    EXPECT_NE(run_ring(fault, Order::forward), "");
}

// Threads copy the tiles: their writes must be made visible to wgmma.
__global__ void multiplies_what_threads_wrote(float* out, bool is_fenced) {
  FERRULE_DYNAMIC_SHARED(std::byte, memory);
  std::byte* const tile = memory + (1024 - reinterpret_cast<std::uintptr_t>(memory) % 1024) % 1024;
  for (unsigned i = threadIdx.x; i < 2 * tile_bytes / 2; i += 128) {
    const std::uint16_t one = float16_bits(1);
    std::memcpy(tile + i * std::size_t{2}, &one, 2);
  }
  if (is_fenced) fence_proxy_async();
  __syncthreads();
  float sums[32] = {};
  wgmma_fence();
  wgmma(sums,
        {64, false, descriptor(tile, true, 0, Fault::none), descriptor(tile + tile_bytes, true, 0, Fault::none), true,
         true},
        true);
  wgmma_commit();
  wgmma_wait(0);
  out[threadIdx.x] = sums[0];
}

TEST(Warpgroup, WritesOfThreadsNeedAFence) {
  float out[128];
  LaunchShape shape;
  shape.block.x = 128;
  shape.dynamic_shared = 2 * tile_bytes + 1024;
  launch("fenced", shape, multiplies_what_threads_wrote, +out, true);
  for (const float sum : out) EXPECT_EQ(sum, 16);
  try {
    launch("not fenced", shape, multiplies_what_threads_wrote, +out, false);
    FAIL();
  } catch (const KernelError& error) {
    EXPECT_NE(std::string(error.what()).find("without a fence.proxy.async since"), std::string::npos) << error.what();
  }
}

TEST(TensorMaps, WhatTheDriverRefusesIsRefused) {
  alignas(128) std::byte memory[4096];
  CUtensorMap map{};
  const auto encode = [&](std::size_t past, cuuint64_t stride, cuuint32_t box_x, cuuint32_t box_y) {
    const cuuint64_t sizes[] = {64, 8}, strides[] = {stride};
    const cuuint32_t box[] = {box_x, box_y}, steps[] = {1, 1};
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, memory + past, sizes, strides, box, steps,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_EQ(encode(0, 128, 64, 8), CUDA_SUCCESS);
  EXPECT_EQ(encode(8, 128, 64, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(0, 136, 64, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(0, 128, 72, 8), CUDA_ERROR_INVALID_VALUE);  // wider than the swizzle
  EXPECT_EQ(encode(0, 128, 64, 257), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(0, 128, 4, 8), CUDA_ERROR_INVALID_VALUE);  // 8 bytes
}

}  // namespace
