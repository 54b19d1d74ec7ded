// float16 and bfloat16: conversions from and to float32, rounding to nearest even.
#pragma once

#include "simd.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
template <>
constexpr DType dtype_of<Float16> = DType::f16;
template <>
constexpr DType dtype_of<BFloat16> = DType::bf16;

HWY_INLINE float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
HWY_INLINE uint32_t to_bits(float x) { return __builtin_bit_cast(uint32_t, x); }

HWY_INLINE float widen(BFloat16 x) { return from_bits(static_cast<uint32_t>(x.bits) << 16); }
HWY_INLINE BFloat16 narrow_bf16(float x) {
  const uint32_t bits = to_bits(x);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return {static_cast<uint16_t>(x != x ? (bits >> 16 | 0x40u) : rounded)};
}

#if defined(__AVX512F__)
HWY_INLINE __m256i narrow_bf16(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x), upper = _mm512_srli_epi32(bits, 16);
  const __m512i half = _mm512_add_epi32(_mm512_and_si512(upper, _mm512_set1_epi32(1)), _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
  const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(rounded, is_nan, upper, _mm512_set1_epi32(0x40)));
}
#endif

HWY_INLINE float widen(Float16 x) {
#if defined(__F16C__)
  return _cvtsh_ss(x.bits);
#else
  // A multiplication rebases the exponent, which also normalises denormals (F. Giesen).
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16, rest = static_cast<uint32_t>(x.bits & 0x7fffu)
                                                                              << 13;
  const float scaled = from_bits(rest) * 0x1p112f;
  const uint32_t special =
      rest >= 0x0f800000u ? (to_bits(scaled) | 0x7f800000u) | (rest > 0x0f800000u ? 0x400000u : 0u) : to_bits(scaled);
  return from_bits(special | sign);
#endif
}
HWY_INLINE Float16 narrow_f16(float x) {
#if defined(__F16C__)
  return {static_cast<uint16_t>(_cvtss_sh(x, 0))};
#else
  // Computes all cases and then chooses, so that the compiler can vectorise loops.
  const uint32_t bits = to_bits(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  const uint32_t normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1u)) >> 13;
  const uint32_t denormal = to_bits(from_bits(magnitude) + 0.5f) - to_bits(0.5f);
  const uint32_t finite = magnitude < 0x38800000u ? denormal : normal;
  const uint32_t number = magnitude >= 0x477ff000u ? 0x7c00u : finite;  // these round to infinity
  const uint32_t half = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ffu) : number;
  return {static_cast<uint16_t>(sign | half)};
#endif
}

// Rounds to float32 and sets the last bit if anything was lost, so that a second rounding gives the same as rounding
// once.
HWY_INLINE float round_to_odd(double x) {
  float f = static_cast<float>(x);
  if (static_cast<double>(f) != x && x == x && __builtin_fabs(x) < 3.4e38) {
    uint32_t bits = to_bits(f);
    if (__builtin_fabs(static_cast<double>(f)) > __builtin_fabs(x)) --bits;
    f = from_bits(bits | 1u);
  }
  return f;
}

// Converts an integer to a double that rounds to a narrower type as the integer itself would: a large one to a multiple
// of 2048, an odd multiple if anything was lost.
template <class T>
HWY_INLINE double sticky(T x) {
  if constexpr (sizeof(T) == 8 && static_cast<T>(0.5) == T(0)) {
    constexpr T exact = T(1) << 53, lost = 0x7ff;
    const bool large = T(-1) < T(0) ? x > exact || x < -exact : x > exact;
    if (large) x = static_cast<T>((x & ~lost) | ((x & lost) != 0 ? lost + 1 : 0));
  }
  return static_cast<double>(x);
}

template <class T>
constexpr bool is_half = __is_same(T, Float16) || __is_same(T, BFloat16);

// The type in which elements of a dtype are computed.
template <class T>
struct ComputedIn {
  using Type = T;
};
template <>
struct ComputedIn<Float16> {
  using Type = float;
};
template <>
struct ComputedIn<BFloat16> {
  using Type = float;
};
template <class T>
using Computed = typename ComputedIn<T>::Type;
// Whether elements are converted into a buffer before they are computed with.
template <class T>
constexpr bool is_converted = !__is_same(T, Computed<T>);

template <class T>
HWY_INLINE T stored(Computed<T> x) {
  if constexpr (__is_same(T, Float16))
    return narrow_f16(x);
  else if constexpr (__is_same(T, BFloat16))
    return narrow_bf16(x);
  else
    return x;
}

template <class T>
HWY_INLINE void widen_all(const T* from, int64_t count, float* to) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (__is_same(T, Float16))
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
#pragma GCC ivdep
  for (; i < count; ++i) to[i] = widen(from[i]);
}
template <class T>
HWY_INLINE void narrow_all(const float* from, int64_t count, T* to) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (__is_same(T, Float16))
    for (; i + 8 <= count; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
#endif
#if defined(__AVX512F__)
  // The compiler's loops have vectors of 32 bytes, and the instructions of AVX-512 BF16 make subnormal numbers zeros.
  if constexpr (__is_same(T, BFloat16))
    for (; i + 16 <= count; i += 16)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), narrow_bf16(_mm512_loadu_ps(from + i)));
#endif
#pragma GCC ivdep
  for (; i < count; ++i) to[i] = stored<T>(from[i]);
}

// `count` elements in the type they are computed in: `from` itself, or widened into `buffer`.
template <class T>
HWY_INLINE const Computed<T>* computed(const T* from, int64_t count, Computed<T>* buffer) {
  if constexpr (is_half<T>) {
    widen_all(from, count, buffer);
    return buffer;
  } else {
    return from;
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
