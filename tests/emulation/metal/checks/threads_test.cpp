// What threads of a threadgroup do together: barriers, threadgroup memory, SIMD-groups, matrices, atomic functions.
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
  std::vector<float> out(3);
  Kernel kernel(R"(
kernel void k(device float* out [[buffer(0)]], threadgroup float* given [[threadgroup(0)]]) {
  FERRULE_THREADGROUP(float, matrix, [4][5]);
  FERRULE_THREADGROUP(half, number, );
  out[0] = matrix[3][4];
  out[1] = number;
  out[2] = given[7];
})");
  kernel.buffer(0, out).threadgroup(0, 32).run(1, 1);
  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

TEST_P(MetalOrders, ArgumentsInThreadgroupMemoryAreShared) {
  std::vector<std::uint32_t> out(64);
  Kernel kernel(R"(
kernel void k(device uint* out [[buffer(0)]], threadgroup uint* first [[threadgroup(0)]],
              threadgroup uint* second [[threadgroup(3)]], uint t [[thread_index_in_threadgroup]]) {
  first[t] = t;
  second[t] = 100 * t;
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  out[t] = first[63 - t] + second[63 - t];
})");
  kernel.buffer(0, out).threadgroup(0, 256).threadgroup(3, 256).run(1, 64, GetParam(), 9);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 101 * (63 - i));
}

// ---- SIMD-groups
std::vector<std::int32_t> of_lanes(const std::string& type, const std::string& expression, unsigned threads = 64) {
  std::vector<std::int32_t> out(threads);
  Kernel kernel(
      "kernel void k(device int* out [[buffer(0)]], uint i [[thread_position_in_grid]], "
      "ushort lane [[thread_index_in_simdgroup]]) { const " +
      type + " v = " + type + "(i * i + 1); out[i] = int(" + expression + "); }");
  kernel.buffer(0, out).run(1, threads, Order::random, 5);
  return out;
}
int value(int i) { return i * i + 1; }

TEST(MetalSimdgroups, ShufflesGiveTheValueOfAnotherLane) {
  const auto check = [](const std::string& expression, int (*lane_of)(int)) {
    const std::vector<std::int32_t> found = of_lanes("int", expression);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(found[static_cast<std::size_t>(i)], value(i / 32 * 32 + lane_of(i % 32))) << expression << " of " << i;
  };
  check("simd_shuffle(v, ushort(31 - lane))", [](int lane) { return 31 - lane; });
  check("simd_shuffle_xor(v, 5)", [](int lane) { return lane ^ 5; });
  check("simd_shuffle_up(v, 3)", [](int lane) { return lane < 3 ? lane : lane - 3; });
  check("simd_shuffle_down(v, 3)", [](int lane) { return lane + 3 > 31 ? lane : lane + 3; });
  check("simd_shuffle_rotate_up(v, 3)", [](int lane) { return (lane + 29) % 32; });
  check("simd_shuffle_rotate_down(v, 3)", [](int lane) { return (lane + 3) % 32; });
  check("simd_broadcast(v, 7)", [](int) { return 7; });
  check("simd_broadcast_first(v)", [](int) { return 0; });
  check("simd_shuffle_and_fill_up(v, v, 3)", [](int lane) { return (lane + 29) % 32; });
  check("simd_shuffle(float4(v, 0, v, 1), ushort(lane ^ 1)).z", [](int lane) { return lane ^ 1; });
  check("simd_shuffle(long(v), ushort(lane ^ 2))", [](int lane) { return lane ^ 2; });
}

TEST(MetalSimdgroups, ReductionsAndScans) {
  const auto check = [](const std::string& type, const std::string& expression, auto fold, std::int64_t start,
                        int first, bool whole) {
    const std::vector<std::int32_t> found = of_lanes(type, expression);
    for (int i = 0; i < 64; ++i) {
      std::int64_t wanted = start;
      const int begin = i / 32 * 32;
      for (int lane = begin; lane < (whole ? begin + 32 : i + first); ++lane) wanted = fold(wanted, value(lane));
      EXPECT_EQ(found[static_cast<std::size_t>(i)], static_cast<std::int32_t>(wanted)) << expression << " of " << i;
    }
  };
  const auto plus = [](std::int64_t x, std::int64_t y) { return x + y; };
  const auto least = [](std::int64_t x, std::int64_t y) { return std::min(x, y); };
  const auto most = [](std::int64_t x, std::int64_t y) { return std::max(x, y); };
  for (const char* const type : {"int", "uint", "float", "long"}) {
    check(type, "simd_sum(v)", plus, 0, 0, true);
    check(type, "simd_min(v)", least, 1 << 30, 0, true);
    check(type, "simd_max(v)", most, -1, 0, true);
    check(type, "simd_prefix_inclusive_sum(v)", plus, 0, 1, false);
    check(type, "simd_prefix_exclusive_sum(v)", plus, 0, 0, false);
  }
  check(
      "half", "simd_max(half(v > 500.0h ? 500.0h : v))",
      [](std::int64_t x, std::int64_t y) { return std::max<std::int64_t>(x, std::min<std::int64_t>(y, 500)); }, -1, 0,
      true);
  check(
      "int", "simd_and(v | 64)", [](std::int64_t x, std::int64_t y) { return x & (y | 64); }, -1, 0, true);
  check(
      "int", "simd_or(v)", [](std::int64_t x, std::int64_t y) { return x | y; }, 0, 0, true);
  check(
      "int", "simd_xor(v)", [](std::int64_t x, std::int64_t y) { return x ^ y; }, 0, 0, true);
  EXPECT_EQ(of_lanes("int", "simd_product(lane < 10 ? 2 : 1)"), std::vector<std::int32_t>(64, 1024));
}

TEST(MetalSimdgroups, LanesThatDoNotExistTakeNoPart) {
  EXPECT_EQ(of_lanes("int", "simd_sum(1)", 40)[39], 8);
  EXPECT_EQ(of_lanes("int", "simd_sum(1)", 40)[0], 32);
  EXPECT_EQ(of_lanes("int", "uint(ulong(simd_ballot(true)))", 40)[39], 0xff);
}

TEST(MetalSimdgroups, Votes) {
  const std::vector<std::int32_t> found =
      of_lanes("int",
               "int(ulong(simd_ballot(lane % 3 == 0)) & 0xffff) * 8 + simd_any(i == 40) * 4 + simd_all(i < 40) * 2 + "
               "(simd_is_first() ? 1 : 0)");
  int ballot = 0;
  for (int lane = 0; lane < 16; ++lane) ballot |= (lane % 3 == 0 ? 1 : 0) << lane;
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(found[i], ballot * 8 + (i < 32 ? 2 : 4) + (i % 32 == 0 ? 1 : 0));
}

// ---- matrices of a SIMD-group
TEST(MetalMatrices, ProductsAreThoseOfTheMatrices) {
  for (const char* const type : {"float", "half", "bfloat"}) {
    // Small integers are exact in each type, and so are their sums in float.
    std::vector<float> a(16 * 16), b(16 * 16), out(16 * 16);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(static_cast<int>(i * 7 % 13) - 6);
      b[i] = static_cast<float>(static_cast<int>(i * 5 % 11) - 5);
    }
    Kernel kernel("typedef " + std::string(type) + R"( T;
kernel void k(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]], device float* out [[buffer(2)]],
              uint t [[thread_index_in_threadgroup]], uint group [[simdgroup_index_in_threadgroup]]) {
  FERRULE_THREADGROUP(T, x, [256]);
  FERRULE_THREADGROUP(T, y, [256]);
  for (uint i = t; i < 256; i += 128) x[i] = T(a[i]), y[i] = T(b[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint row = group / 2 * 8, column = group % 2 * 8;
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
  for (uint k = 0; k < 16; k += 8) {
    simdgroup_matrix<T, 8, 8> left, right;
    simdgroup_load(left, x + row * 16 + k, 16);
    simdgroup_load(right, y, 16, ulong2(k, column), true);
    simdgroup_multiply_accumulate(sum, left, right, sum);
  }
  simdgroup_store(sum, out, 16, ulong2(column, row));
})");
    kernel.buffer(0, a).buffer(1, b).buffer(2, out).run(1, 128, Order::random, 2);
    for (std::size_t row = 0; row < 16; ++row)
      for (std::size_t column = 0; column < 16; ++column) {
        float wanted = 1;
        for (std::size_t k = 0; k < 16; ++k) wanted += a[16 * row + k] * b[16 * column + k];
        ASSERT_EQ(out[16 * row + column], wanted) << type << " " << row << " " << column;
      }
  }
}

TEST(MetalMatrices, LanesHoldTwoNeighboursOfARow) {
  std::vector<float> x(64), out(64);
  std::iota(x.begin(), x.end(), 0.0F);
  Kernel kernel(R"(
kernel void k(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
              ushort lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, x);
  out[2 * lane] = m.thread_elements()[0];
  out[2 * lane + 1] = m.thread_elements()[1];
})");
  kernel.buffer(0, x).buffer(1, out).run(1, 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    // The layout that MLX's kernels rely on (mlx/backend/metal/kernels/steel/gemm/mma.h, BaseMMAFrag::get_coord).
    const unsigned quad = lane / 4, row = (quad & 4) + lane / 2 % 4, column = (quad & 2) * 2 + lane % 2 * 2;
    EXPECT_EQ(out[2 * lane], static_cast<float>(8 * row + column));
    EXPECT_EQ(out[2 * lane + 1], static_cast<float>(8 * row + column + 1));
  }
}

TEST(MetalMatrices, ConstructorsAndMultiply) {
  std::vector<float> out(128);
  Kernel kernel(R"(
kernel void k(device float* out [[buffer(0)]], ushort lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 three(3.0f), unset, product;
  simdgroup_multiply(product, three, make_filled_simdgroup_matrix<float, 8, 8>(2.0f));
  product.thread_elements()[0] += 1.0f;
  simdgroup_store(product, out);
  simdgroup_store(unset, out + 64);
})");
  kernel.buffer(0, out).run(1, 32);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 7.0F : 6.0F);
  for (std::size_t i = 64; i < 128; ++i) EXPECT_TRUE(std::isnan(out[i]));
}

// ---- atomic functions
TEST_P(MetalOrders, AtomicFunctionsCountAllThreads) {
  std::vector<std::uint32_t> out(16, 0);
  out[2] = 0xffffffff;
  out[4] = 0xffffffff;
  Kernel kernel(R"(
kernel void k(device atomic_uint* out [[buffer(0)]], device atomic_float* sums [[buffer(1)]],
              device atomic_int* others [[buffer(2)]], uint i [[thread_position_in_grid]],
              uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint count;
  if (t == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&count, 2, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint all = atomic_load_explicit(&count, memory_order_relaxed);
  if (t == 0) atomic_fetch_add_explicit(&out[0], all, memory_order_relaxed);
  atomic_fetch_max_explicit(&out[1], i, memory_order_relaxed);
  atomic_fetch_min_explicit(&out[2], i + 5, memory_order_relaxed);
  atomic_fetch_or_explicit(&out[3], 1u << (i % 32), memory_order_relaxed);
  atomic_fetch_and_explicit(&out[4], ~(1u << (i % 16)), memory_order_relaxed);
  atomic_fetch_xor_explicit(&out[5], i, memory_order_relaxed);
  atomic_fetch_sub_explicit(&out[6], 1u, memory_order_relaxed);
  uint old = atomic_load_explicit(&out[7], memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&out[7], &old, old + i, memory_order_relaxed, memory_order_relaxed)) {
  }
  if (i == 77) atomic_exchange_explicit(&out[8], 123u, memory_order_relaxed);
  atomic_fetch_add_explicit(&sums[0], 0.5f, memory_order_relaxed);
  atomic_fetch_sub_explicit(&sums[1], 1.0f, memory_order_relaxed);
  atomic_fetch_min_explicit(&others[0], -int(i), memory_order_relaxed);
})");
  std::vector<float> sums(2);
  std::vector<std::int32_t> others(1);
  kernel.buffer(0, out).buffer(1, sums).buffer(2, others).run(16, 64, GetParam(), 4);
  unsigned all = 0;
  for (unsigned i = 0; i < 1024; ++i) all ^= i;
  EXPECT_EQ(std::vector<std::uint32_t>(out.begin(), out.begin() + 9),
            (std::vector<std::uint32_t>{2048, 1023, 5, 0xffffffff, 0xffff0000, all, 0xfffffc00, 1023 * 1024 / 2, 123}));
  EXPECT_EQ(sums, (std::vector<float>{512, -1024}));
  EXPECT_EQ(others[0], -1023);
}

TEST_P(MetalOrders, AThreadWaitsForAnotherByAtomicFunctions) {
  std::vector<std::uint32_t> out(2);
  Kernel kernel(R"(
kernel void k(device atomic_uint* flag [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i == 0) {
    while (atomic_load_explicit(flag, memory_order_relaxed) != 63) {
    }
    atomic_store_explicit(flag + 1, 7u, memory_order_relaxed);
  } else {
    atomic_fetch_add_explicit(flag, 1u, memory_order_relaxed);
  }
})");
  kernel.buffer(0, out).run(1, 64, GetParam(), 6);
  EXPECT_EQ(out[1], 7U);
}

}  // namespace
}  // namespace emulation::metal
