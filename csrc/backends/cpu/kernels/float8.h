// float8_e4m3fn and float8_e5m2 (OCP OFP8, 2023): conversions from and to float32, rounding to nearest even.
#pragma once

#include "half.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Has no infinity: values that are too large become NaN.
struct Float8E4M3 {
  uint8_t bits;
};
struct Float8E5M2 {
  uint8_t bits;
};
template <>
constexpr DType dtype_of<Float8E4M3> = DType::f8_e4m3fn;
template <>
constexpr DType dtype_of<Float8E5M2> = DType::f8_e5m2;

template <class T>
constexpr bool is_float8 = __is_same(T, Float8E4M3) || __is_same(T, Float8E5M2);

HWY_INLINE float widen(Float8E4M3 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x80u) << 24, magnitude = x.bits & 0x7fu;
  // A multiplication rebases the exponent, which also normalises denormals.
  const uint32_t number = to_bits(from_bits(magnitude << 20) * 0x1p120f);
  return from_bits(sign | (magnitude == 0x7fu ? 0x7fc00000u : number));
}
// float8_e5m2 is the upper byte of a float16.
HWY_INLINE float widen(Float8E5M2 x) { return widen(Float16{static_cast<uint16_t>(x.bits << 8)}); }

// The magnitude's bits, from those of a float32. Values that are too large, including NaN, give bits above those of the
// greatest number.
template <int mantissa_bits, int bias>
HWY_INLINE uint32_t narrow_magnitude(uint32_t magnitude) {
  constexpr int shift = 23 - mantissa_bits;
  constexpr uint32_t least_normal = static_cast<uint32_t>(128 - bias) << 23;
  constexpr uint32_t rebias = static_cast<uint32_t>(127 - bias) << 23;
  // A float32 whose unit in the last place is the smallest denormal of the result.
  constexpr uint32_t large = static_cast<uint32_t>(127 + 24 - bias - mantissa_bits) << 23;
  const uint32_t normal = (magnitude - rebias + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1u)) >> shift;
  const uint32_t denormal = to_bits(from_bits(magnitude) + from_bits(large)) - large;
  return magnitude < least_normal ? denormal : normal;
}

template <class T>
HWY_INLINE T narrow_float8(float x) {
  const uint32_t bits = to_bits(x), sign = bits >> 24 & 0x80u, magnitude = bits & 0x7fffffffu;
  if constexpr (__is_same(T, Float8E4M3)) {
    const uint32_t number = narrow_magnitude<3, 7>(magnitude);
    return {static_cast<uint8_t>(sign | (number > 0x7eu ? 0x7fu : number))};
  } else {
    const uint32_t number = narrow_magnitude<2, 15>(magnitude);
    return {static_cast<uint8_t>(sign | (magnitude > 0x7f800000u ? 0x7eu : number > 0x7bu ? 0x7cu : number))};
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
