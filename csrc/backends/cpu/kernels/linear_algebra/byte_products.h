// Sums of products of bytes in 32-bit lanes, by the instructions that a variant has.
#pragma once

#include "block_panels.h"

#if defined(__SSSE3__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

using Integers = hn::VFromD<Full<int32_t>>;

// sum + the products of the four bytes of each lane: unsigned ones of u, at most `largest`, and signed ones of x.

#if defined(__AVX512VNNI__)
template <int largest>
HWY_INLINE Integers add_byte_products(Integers sum, Words u, Integers x) {
  return Integers{_mm512_dpbusd_epi32(sum.raw, u.raw, x.raw)};
}
#elif defined(__SSSE3__)
// Sums of two products of 16 bits each.
HWY_INLINE Integers pair_products(Integers a, Integers b) {
#if HWY_MAX_BYTES == 64
  return Integers{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_MAX_BYTES == 32
  return Integers{_mm256_madd_epi16(a.raw, b.raw)};
#else
  return Integers{_mm_madd_epi16(a.raw, b.raw)};
#endif
}
// Sums of two products of bytes, unsigned ones and signed ones, which 16 bits must hold.
HWY_INLINE Integers byte_pair_products(Words u, Integers x) {
#if HWY_MAX_BYTES == 64
  return Integers{_mm512_maddubs_epi16(u.raw, x.raw)};
#elif HWY_MAX_BYTES == 32
  return Integers{_mm256_maddubs_epi16(u.raw, x.raw)};
#else
  return Integers{_mm_maddubs_epi16(u.raw, x.raw)};
#endif
}
template <int largest>
HWY_INLINE Integers add_byte_products(Integers sum, Words u, Integers x) {
  const Full<int32_t> d;
  const Full<int16_t> d16;
  if constexpr (largest < 128) {
    const auto ones = hn::BitCast(d, hn::Set(d16, 1));
    return hn::Add(sum, pair_products(byte_pair_products(u, x), ones));
  } else {
    const auto even = hn::BitCast(d, hn::And(u, hn::Set(Full<uint32_t>(), 0xff00ff)));
    const auto odd = hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(Full<uint16_t>(), u)));
    const auto x16 = hn::BitCast(d16, x);
    const auto even_x = hn::BitCast(d, hn::ShiftRight<8>(hn::ShiftLeft<8>(x16)));
    const auto odd_x = hn::BitCast(d, hn::ShiftRight<8>(x16));
    return hn::Add(sum, hn::Add(pair_products(even, even_x), pair_products(odd, odd_x)));
  }
}
#elif defined(__ARM_FEATURE_MATMUL_INT8)
template <int largest>
HWY_INLINE Integers add_byte_products(Integers sum, Words u, Integers x) {
  return Integers{vusdotq_s32(sum.raw, vreinterpretq_u8_u32(u.raw), vreinterpretq_s8_s32(x.raw))};
}
#elif defined(__ARM_FEATURE_DOTPROD)
template <int largest>
HWY_INLINE Integers add_byte_products(Integers sum, Words u, Integers x) {
  const int8x16_t x8 = vreinterpretq_s8_s32(x.raw);
  const uint8x16_t u8 = vreinterpretq_u8_u32(u.raw);
  if constexpr (largest < 128) return Integers{vdotq_s32(sum.raw, vreinterpretq_s8_u8(u8), x8)};
  const int32x4_t low = vdotq_s32(sum.raw, vreinterpretq_s8_u8(vandq_u8(u8, vdupq_n_u8(127))), x8);
  const int32x4_t high = vdotq_s32(vdupq_n_s32(0), vreinterpretq_s8_u8(vshrq_n_u8(u8, 7)), x8);
  return Integers{vaddq_s32(low, vshlq_n_s32(high, 7))};
}
#else
template <int largest>
HWY_INLINE Integers add_byte_products(Integers sum, Words u, Integers x) {
  const int16x8_t x16 = vreinterpretq_s16_s32(x.raw);
  const uint16x8_t u16 = vreinterpretq_u16_u32(u.raw);
  const int16x8_t even = vreinterpretq_s16_u16(vandq_u16(u16, vdupq_n_u16(255)));
  const int16x8_t odd = vreinterpretq_s16_u16(vshrq_n_u16(u16, 8));
  const int32x4_t half = vpadalq_s16(sum.raw, vmulq_s16(even, vshrq_n_s16(vshlq_n_s16(x16, 8), 8)));
  return Integers{vpadalq_s16(half, vmulq_s16(odd, vshrq_n_s16(x16, 8)))};
}
#endif

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
