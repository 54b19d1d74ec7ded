// Tests that a missing barrier and a value that was never written are visible, and tests roundings that decide results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "metal/checks/kernels.h"

namespace emulation::metal {
namespace {

class MetalOrders : public testing::TestWithParam<Order> {};
INSTANTIATE_TEST_SUITE_P(Metal, MetalOrders, testing::Values(Order::forward, Order::reverse, Order::random));

// The sum of each threadgroup, by a tree in threadgroup memory.
std::string tree_sums(const std::string& declaration, const std::string& barrier) {
  return R"(
kernel void k(device const int* x [[buffer(0)]], device int* out [[buffer(1)]], uint i [[thread_position_in_grid]],
              uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
              uint size [[threads_per_threadgroup]]) {
  )" + declaration +
         R"(
  partial[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = size / 2; step > 0; step /= 2) {
    if (t < step) partial[t] += partial[t + step];
    )" + barrier +
         R"(
  }
  if (t == 0) out[group] = partial[0];
})";
}

TEST_P(MetalOrders, SumsInThreadgroupMemoryAreRight) {
  for (const char* const declaration : {"FERRULE_THREADGROUP(int, partial, [256]);", "threadgroup int partial[256];",
                                        "threadgroup int unused, partial[256];"}) {
    std::vector<int> x(8 * 256), out(8);
    std::iota(x.begin(), x.end(), 1);
    Kernel kernel(tree_sums(declaration, "threadgroup_barrier(mem_flags::mem_threadgroup);"));
    kernel.buffer(0, x).buffer(1, out).run(8, 256, GetParam(), 3);
    for (int group = 0; group < 8; ++group)
      EXPECT_EQ(out[static_cast<std::size_t>(group)], 256 * 256 * group + 256 * 257 / 2);
  }
}

#if !defined(__SANITIZE_THREAD__)  // which finds the race itself
TEST(MetalThreads, MissingBarrierGivesAnotherResultWithAnotherOrder) {
  std::vector<int> x(256, 1), out(1);
  std::vector<int> results;
  for (const Order order : {Order::forward, Order::reverse, Order::random}) {
    Kernel kernel(tree_sums("threadgroup int partial[256];", ""));
    kernel.buffer(0, x).buffer(1, out).run(1, 256, order, 1);
    results.push_back(out[0]);
  }
  EXPECT_TRUE(std::any_of(results.begin(), results.end(), [](int result) { return result != 256; }));
}
#endif

TEST(MetalThreads, ThreadgroupMemoryIsNotANumberAtFirst) {
  std::vector<float> out(2);
  Kernel kernel(R"(
kernel void k(device float* out [[buffer(0)]]) {
  FERRULE_THREADGROUP(float, matrix, [4][5]);
  FERRULE_THREADGROUP(half, number, );
  out[0] = matrix[3][4];
  out[1] = number;
})");
  kernel.buffer(0, out).run(1, 1);
  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

TEST(MetalThreads, ValuesAreRoundedToTheNearestAndFusedOnlyWhereTheTextSaysSo) {
  std::vector<float> out(4);
  Kernel kernel(R"(
#pragma METAL fp contract(off)
kernel void k(device float* out [[buffer(0)]], device const float* x [[buffer(1)]]) {
  out[0] = float(half(x[0]));
  out[1] = float(bfloat(x[1]));
  out[2] = x[2] * x[2] - 1.0f;
  out[3] = fma(x[2], x[2], -1.0f);
})");
  std::vector<float> x = {1 + 3 * 0x1p-11F, 1 + 3 * 0x1p-8F, 1 + 0x1p-12F};  // ties of half and bfloat, to even
  kernel.buffer(0, out).buffer(1, x).run(1, 1);
  EXPECT_EQ(out, (std::vector<float>{1 + 0x1p-9F, 1 + 0x1p-6F, 0x1p-11F, 0x1p-11F + 0x1p-24F}));
}

TEST(MetalThreads, MatricesHaveTheProductOfTheirElementsAndAreNotANumberAtFirst) {
  std::vector<float> a(64), b(64), out(128);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(static_cast<int>(i * 7 % 13) - 6);
    b[i] = static_cast<float>(static_cast<int>(i * 5 % 11) - 5);
  }
  Kernel kernel(R"(
kernel void k(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]], device float* out [[buffer(2)]]) {
  simdgroup_float8x8 left, right, unset, sum = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
  simdgroup_load(left, a, 8);
  simdgroup_load(right, b, 8, ulong2(0, 0), true);
  simdgroup_multiply_accumulate(sum, left, right, sum);
  simdgroup_store(sum, out, 8);
  simdgroup_store(unset, out + 64, 8);
})");
  kernel.buffer(0, a).buffer(1, b).buffer(2, out).run(1, 32, Order::random, 2);
  for (std::size_t row = 0; row < 8; ++row)
    for (std::size_t column = 0; column < 8; ++column) {
      float wanted = 1;
      for (std::size_t k = 0; k < 8; ++k) wanted += a[8 * row + k] * b[8 * column + k];
      EXPECT_EQ(out[8 * row + column], wanted) << row << " " << column;
      EXPECT_TRUE(std::isnan(out[64 + 8 * row + column]));
    }
}

}  // namespace
}  // namespace emulation::metal
