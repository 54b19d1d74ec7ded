// CUDA's functions for bits and numbers that C++ does not have, as far as kernels use them. CUDA Math API, "Integer
// Intrinsics". Those of C (sqrtf, fmaf, exp10f) come from <math.h>.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstdint>

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
// One more than the number of the lowest bit that is set; 0 if none is.
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
// Bytes 0 to 3 are those of x, 4 to 7 those of y; each hexadecimal digit of the selector picks one.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned picked = 0;
  for (unsigned i = 0; i < 4; ++i)
    picked |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7U) * 8 & 0xffU) << 8 * i;
  return picked;
}
// The lower half of high:low shifted right by shift modulo 32.
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31U));
}

inline float rsqrtf(float x) { return 1.0F / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

// min and max of CUDA: of two floats the one that is a number, of mixed signs the unsigned ones
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
