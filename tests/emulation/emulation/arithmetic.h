// CUDA's functions for bits and numbers that C++ does not have. CUDA Math API, "Integer Intrinsics", "Type Casting
// Intrinsics", "Single Precision Intrinsics". Those of C (sqrtf, fmaf, exp10f) come from <math.h>.
//
// Compile with -ffp-contract=off: __fmul_rn and __fadd_rn must not become one operation.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

// ---- bits
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
// One more than the number of the lowest bit that is set; 0 if none is.
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
inline int __ffsll(long long x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(x)) + 1; }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1U) << (31 - bit);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
// Bytes 0 to 3 are those of x, 4 to 7 those of y; each hexadecimal digit of the selector picks one.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned picked = 0;
  for (unsigned i = 0; i < 4; ++i)
    picked |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7U) * 8 & 0xffU) << 8 * i;
  return picked;
}
// The upper half of high:low shifted left, the lower half of it shifted right; by shift modulo 32, or (_lc, _rc) by at
// most 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31U) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31U));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// ---- products
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>(std::uint64_t{x} * y >> 32); }
// sum + the dot product of four bytes; it wraps around.
inline int __dp4a(int x, int y, int sum) {
  auto total = static_cast<unsigned>(sum);
  for (int i = 0; i < 4; ++i)
    total += static_cast<unsigned>(static_cast<std::int8_t>(x >> 8 * i) * static_cast<std::int8_t>(y >> 8 * i));
  return static_cast<int>(total);
}
inline unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
  for (unsigned i = 0; i < 4; ++i) sum += (x >> 8 * i & 0xffU) * (y >> 8 * i & 0xffU);
  return sum;
}

// ---- the same bits as another type
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

// ---- one rounding each, to the nearest
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }

inline float rsqrtf(float x) { return 1.0F / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

template <class T>
T __ldg(const T* address) {
  return *address;
}

// ---- min and max of CUDA: of two floats the one that is a number, of mixed signs the unsigned ones
#define FERRULE_MIN_MAX(T, X, Y)                                                                                      \
  constexpr T min(X x, Y y) { return static_cast<T>(x) < static_cast<T>(y) ? static_cast<T>(x) : static_cast<T>(y); } \
  constexpr T max(X x, Y y) { return static_cast<T>(x) < static_cast<T>(y) ? static_cast<T>(y) : static_cast<T>(x); }
FERRULE_MIN_MAX(int, int, int)
FERRULE_MIN_MAX(unsigned, unsigned, unsigned)
FERRULE_MIN_MAX(unsigned, int, unsigned)
FERRULE_MIN_MAX(unsigned, unsigned, int)
FERRULE_MIN_MAX(long, long, long)
FERRULE_MIN_MAX(unsigned long, unsigned long, unsigned long)
FERRULE_MIN_MAX(long long, long long, long long)
FERRULE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef FERRULE_MIN_MAX
inline float min(float x, float y) { return std::fmin(x, y); }
inline float max(float x, float y) { return std::fmax(x, y); }
inline double min(double x, double y) { return std::fmin(x, y); }
inline double max(double x, double y) { return std::fmax(x, y); }
