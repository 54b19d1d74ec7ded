// Functions and types that CUDA gives kernels, against values that its documentation defines.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <memory>  // after cuda_runtime.h: its __attribute__((__noinline__)) must stay valid
#include <vector>

namespace {

TEST(VectorTypes, HaveTheAlignmentsOfCuda) {
  static_assert(sizeof(float2) == 8 && alignof(float2) == 8 && sizeof(float4) == 16 && alignof(float4) == 16);
  static_assert(sizeof(int2) == 8 && alignof(int2) == 8 && alignof(int4) == 16 && alignof(uint2) == 8);
  static_assert(alignof(uint4) == 16 && alignof(ushort4) == 8 && sizeof(ushort4) == 8 && alignof(uchar4) == 4);
  static_assert(alignof(double2) == 16 && alignof(longlong2) == 16 && sizeof(float3) == 12 && alignof(float3) == 4);
  static_assert(make_float4(1, 2, 3, 4).w == 4 && make_uint2(1, 2).y == 2 && make_longlong2(1, -2).y == -2);
  static_assert(dim3(5).x == 5 && dim3(5).y == 1 && dim3(5).z == 1);
}

TEST(Arithmetic, CountsAndMovesBits) {
  EXPECT_EQ(__popc(0xf0f0U), 8);
  EXPECT_EQ(__popcll(~0ULL), 64);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffsll(1LL << 40), 41);
  EXPECT_EQ(__brev(1), 0x80000000U);
  EXPECT_EQ(__brevll(2), 1ULL << 62);
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0x7520), 0x77552200U);
  EXPECT_EQ(__funnelshift_l(0x89abcdef, 0x01234567, 8), 0x23456789U);
  EXPECT_EQ(__funnelshift_r(0x89abcdef, 0x01234567, 8), 0x6789abcdU);
  EXPECT_EQ(__funnelshift_l(1, 2, 32), 2U);
  EXPECT_EQ(__funnelshift_lc(1, 2, 32), 1U);
}

TEST(Arithmetic, MultipliesBytes) {
  EXPECT_EQ(__dp4a(static_cast<int>(0x80ff7f01U), 0x02020202, 10), 10 + 2 + 254 - 2 - 256);
  EXPECT_EQ(__dp4a(0x80ff7f01U, 0x02020202U, 10U), 10U + 2 + 254 + 510 + 256);
  EXPECT_EQ(__umulhi(0x80000000U, 6), 3U);
  EXPECT_EQ(__mulhi(-1, 2), -1);
}

TEST(Arithmetic, ReadsTheSameBitsAsAnotherType) {
  EXPECT_EQ(__float_as_uint(1.0F), 0x3f800000U);
  EXPECT_EQ(__uint_as_float(0x40000000U), 2.0F);
  EXPECT_EQ(__int_as_float(__float_as_int(-3.5F)), -3.5F);
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(-3.5)), -3.5);
}

TEST(Arithmetic, RoundsOnce) {
  const float x = 1 + 0x1p-12F;
  EXPECT_EQ(__fmaf_rn(x, x, -1.0F), 0x1p-11F + 0x1p-24F);
  EXPECT_EQ(__fadd_rn(__fmul_rn(x, x), -1.0F), 0x1p-11F);
  EXPECT_EQ(rsqrtf(4.0F), 0.5F);
  EXPECT_EQ(rsqrt(16.0), 0.25);
  EXPECT_EQ(exp10f(2.0F), 100.0F);
}

TEST(Arithmetic, LesserAndGreaterAreChosenAsInCuda) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(min(nan, 1.0F), 1.0F);
  EXPECT_EQ(max(1.0F, nan), 1.0F);
  EXPECT_EQ(min(-1, 1), -1);
  EXPECT_EQ(min(-1, 1U), 1U);  // -1 as unsigned is greater
  EXPECT_EQ(max(3ULL, 4ULL), 4ULL);
}

emulation::LaunchShape block_of(unsigned threads) {
  emulation::LaunchShape shape;
  shape.block.x = threads;
  return shape;
}

struct Totals {
  unsigned sum = 0, bits = 0, all = ~0U, parity = 0, least = ~0U;
  int left = 1000, greatest = -1;
  unsigned long long wide = 1ULL << 40, wide_bits = 0;
  float real = 0;
  double real64 = 0;
  unsigned short half = 0;
};

__global__ void adds_up(Totals* totals) {
  const unsigned i = threadIdx.x;
  atomicAdd(&totals->sum, 1);  // an int for an unsigned, as CUDA's overloads take it
  atomicAdd(&totals->wide, 2ULL);
  atomicAdd(&totals->real, 0.5F);
  atomicAdd(&totals->real64, 0.25);
  atomicOr(&totals->bits, 1U << i);
  atomicOr(&totals->wide_bits, 1ULL << (i + 32));
  atomicAnd(&totals->all, ~(1U << i));
  atomicXor(&totals->parity, i);
  atomicSub(&totals->left, 3);
  atomicMin(&totals->least, i + 5);
  atomicMax(&totals->greatest, static_cast<int>(i));
  unsigned short seen = totals->half;
  for (unsigned short before = seen;
       (before = atomicCAS(&totals->half, seen, static_cast<unsigned short>(seen + 1))) != seen;)
    seen = before;
}

TEST(AtomicFunctions, LoseNoUpdate) {
  Totals totals;
#if defined(__SANITIZE_THREAD__)
  const unsigned threads = 1;  // `half` is read without atomics
#else
  const unsigned threads = 16;
#endif
  emulation::launch("adds_up", block_of(threads), adds_up, &totals);
  if (threads == 1) return;
  EXPECT_EQ(totals.sum, 16U);
  EXPECT_EQ(totals.wide, (1ULL << 40) + 32);
  EXPECT_EQ(totals.real, 8.0F);
  EXPECT_EQ(totals.real64, 4.0);
  EXPECT_EQ(totals.bits, 0xffffU);
  EXPECT_EQ(totals.wide_bits, 0xffffULL << 32);
  EXPECT_EQ(totals.all, 0xffff0000U);
  EXPECT_EQ(totals.parity, 0U);
  EXPECT_EQ(totals.left, 1000 - 48);
  EXPECT_EQ(totals.least, 5U);
  EXPECT_EQ(totals.greatest, 15);
  EXPECT_EQ(totals.half, 16);
}

struct WarpResults {
  double wide;
  unsigned long long wide_integer;
  unsigned sum, bits, parity, active;
  int least, greatest;
};

__global__ void warp_reductions(WarpResults* out) {
  const unsigned lane = threadIdx.x;
  if (lane >= 24) return;
  const unsigned mask = 0x00ffffffU;
  WarpResults own{};
  own.wide = __shfl_sync(mask, lane + 0.5, 23);
  own.wide_integer = __shfl_xor_sync(mask, (1ULL << 40) + lane, 3);
  own.sum = __reduce_add_sync(mask, lane);
  own.least = __reduce_min_sync(mask, -static_cast<int>(lane));
  own.greatest = __reduce_max_sync(mask, -5 - static_cast<int>(lane));
  own.bits = __reduce_or_sync(mask, 1U << lane);
  own.parity = __reduce_xor_sync(mask, lane);
  own.active = __activemask();
  __syncwarp(mask);
  if (lane == 0) *out = own;
}

TEST(WarpFunctions, ExchangeWideValuesAndReduce) {
  WarpResults out{};
  emulation::LaunchShape shape = block_of(32);
  shape.order = emulation::Order::reverse;  // the lanes that return early end first
  emulation::launch("warp_reductions", shape, warp_reductions, &out);
  EXPECT_EQ(out.wide, 23.5);
  EXPECT_EQ(out.wide_integer, (1ULL << 40) + 3);
  EXPECT_EQ(out.sum, 276U);
  EXPECT_EQ(out.least, -23);
  EXPECT_EQ(out.greatest, -5);
  EXPECT_EQ(out.bits, 0x00ffffffU);
  EXPECT_EQ(out.parity, 0U);
  EXPECT_EQ(out.active, 0x00ffffffU);
}

__constant__ constexpr float table[] = {1, 2, 3, 4};

__device__ __noinline__ float from_table(const float* __restrict__ values, unsigned i) { return __ldg(values + i); }

__global__ void __launch_bounds__(4) reads_a_table(float* out) {
  float sum = 0;
#if defined(__clang__)
#pragma unroll
#endif
  for (unsigned i = 0; i < 4; ++i) sum += from_table(table, i);
  out[threadIdx.x] = sum;
}

TEST(Qualifiers, MeanNothingToTheHostCompiler) {
  std::vector<float> out(4);
  emulation::launch("reads_a_table", block_of(4), reads_a_table, out.data());
  EXPECT_EQ(out, std::vector<float>(4, 10.0F));
}

}  // namespace
