// cp.async: what a thread and its block see of copies before and after the wait.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace emulation;

LaunchShape one_block_of(unsigned threads) {
  LaunchShape shape;
  shape.block.x = threads;
  return shape;
}

// Each thread copies four floats. `wait`: 0 for all groups, 1 leaves the last one.
template <unsigned wait>
void copies_a_tile(const float* x, float* out, unsigned source_bytes, bool with_wait) {
  FERRULE_SHARED(float4, tile, [2][32]);
  const auto* const from = reinterpret_cast<const float4*>(x);
  for (unsigned stage = 0; stage < 2; ++stage) {
    cp_async_16(&tile[stage][threadIdx.x], from + stage * 32 + threadIdx.x, source_bytes);
    cp_async_commit();
  }
  if (with_wait) cp_async_wait<wait>();
  __syncthreads();
  for (unsigned stage = 0; stage < 2; ++stage)
    std::memcpy(out + (stage * 32 + threadIdx.x) * 4, &tile[stage][31 - threadIdx.x], 16);
}

struct Tile {
  alignas(16) std::array<float, 256> x;
  std::array<float, 256> out{};
};

Tile numbered() {
  Tile tile;
  for (unsigned i = 0; i < 256; ++i) tile.x[i] = static_cast<float>(i);
  return tile;
}

TEST(AsyncCopies, LandAtTheWait) {
  Tile tile = numbered();
  launch("tile", one_block_of(32), copies_a_tile<0>, tile.x.data(), tile.out.data(), 16U, true);
  for (unsigned stage = 0; stage < 2; ++stage)
    for (unsigned i = 0; i < 128; ++i) {
      const unsigned of_thread = 31 - i / 4;
      ASSERT_EQ(tile.out[stage * 128 + i], static_cast<float>(stage * 128 + of_thread * 4 + i % 4));
    }
}

TEST(AsyncCopies, WithoutAWaitTheTargetIsNaN) {
  Tile tile = numbered();
  launch("tile", one_block_of(32), copies_a_tile<0>, tile.x.data(), tile.out.data(), 16U, false);
  for (const float value : tile.out) ASSERT_TRUE(std::isnan(value));
}

TEST(AsyncCopies, WaitLeavesTheNewestGroups) {
  Tile tile = numbered();
  launch("tile", one_block_of(32), copies_a_tile<1>, tile.x.data(), tile.out.data(), 16U, true);
  for (unsigned i = 0; i < 128; ++i) {
    ASSERT_FALSE(std::isnan(tile.out[i]));
    ASSERT_TRUE(std::isnan(tile.out[128 + i]));
  }
}

#if !defined(__SANITIZE_THREAD__)  // which finds the race itself
__global__ void overwrites_what_is_read(const float* x, float* out, bool with_barrier) {
  FERRULE_SHARED(float4, tile, [32]);
  tile[threadIdx.x] = make_float4(5, 5, 5, 5);
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = tile[threadIdx.x + 16].x;
  if (with_barrier) __syncthreads();
  cp_async_16(&tile[threadIdx.x], x);
  cp_async_commit();
  if (threadIdx.x >= 16) out[threadIdx.x] = 5;
  cp_async_wait<0>();
}

TEST(AsyncCopies, CopyIntoMemoryThatOthersStillReadShows) {
  Tile tile = numbered();
  LaunchShape shape = one_block_of(32);
  shape.order = Order::reverse;
  launch("overwrites", shape, overwrites_what_is_read, tile.x.data(), tile.out.data(), true);
  EXPECT_EQ(tile.out[1], 5.0F);
  launch("overwrites", shape, overwrites_what_is_read, tile.x.data(), tile.out.data(), false);
  EXPECT_NE(tile.out[1], 5.0F);
}
#endif

__global__ void copies_wrongly(const float* x, int fault) {
  FERRULE_SHARED(float4, tile, [2]);
  float4 local{};
  if (fault == 0) cp_async_16(reinterpret_cast<char*>(&tile[0]) + 4, x);
  if (fault == 1) cp_async_16(&tile[0], x + 1);
  if (fault == 2) cp_async_16(&tile[0], x, 17);
  if (fault == 3) cp_async_16(&local, x);
}

TEST(AsyncCopies, WrongOperandsAreReported) {
  const Tile tile = numbered();
  const auto error = [&](int fault) -> std::string {
    try {
      launch("wrong", one_block_of(1), copies_wrongly, tile.x.data(), fault);
    } catch (const KernelError& caught) {
      return caught.what();
    }
    return "";
  };
  for (int fault = 0; fault < 3; ++fault) EXPECT_NE(error(fault), "") << fault;
  EXPECT_NE(error(3).find("the target is not in shared memory"), std::string::npos);
  EXPECT_NE(error(3).find("async_copies_test.cpp:"), std::string::npos) << error(3);
}

}  // namespace
