// Conversions between types. A float outside an integer's range gives the nearest integer of the range, and NaN gives
// 0; integers wrap. A result that is stored as f16 or bf16 is a float that is rounded to it, once.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ __forceinline__ T copy(T x) {
  return x;
}
template <class T>
__device__ __forceinline__ uint32_t to_boolean(T x) {
  return x != T(0);
}

template <class To, class From>
__device__ __forceinline__ To to_integer(From x) {
  if constexpr (is_floating<From>) {
    constexpr bool is_signed = static_cast<To>(-1) < To(0);
    constexpr uint64_t half_range = uint64_t(1) << (8 * sizeof(To) - 1);
    constexpr To low = is_signed ? static_cast<To>(half_range) : To(0), high = static_cast<To>(~low);
    // The least power of two above the range is exact in the float type; the greatest integer may not be.
    constexpr From limit = is_signed ? From(half_range) : From(half_range) * From(2);
    return x != x ? To(0) : x >= limit ? high : x <= static_cast<From>(low) ? low : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}
template <class T>
__device__ __forceinline__ int32_t to_i8(T x) {
  return to_integer<int8_t>(x);
}
template <class T>
__device__ __forceinline__ int32_t to_i16(T x) {
  return to_integer<int16_t>(x);
}
template <class T>
__device__ __forceinline__ int32_t to_i32(T x) {
  return to_integer<int32_t>(x);
}
template <class T>
__device__ __forceinline__ int64_t to_i64(T x) {
  return to_integer<int64_t>(x);
}
template <class T>
__device__ __forceinline__ uint32_t to_u8(T x) {
  return to_integer<uint8_t>(x);
}
template <class T>
__device__ __forceinline__ uint32_t to_u16(T x) {
  return to_integer<uint16_t>(x);
}
template <class T>
__device__ __forceinline__ uint32_t to_u32(T x) {
  return to_integer<uint32_t>(x);
}
template <class T>
__device__ __forceinline__ uint64_t to_u64(T x) {
  return to_integer<uint64_t>(x);
}
template <class T>
__device__ __forceinline__ float to_f32(T x) {
  return static_cast<float>(x);
}
template <class T>
__device__ __forceinline__ double to_f64(T x) {
  return static_cast<double>(x);
}

__device__ __forceinline__ int leading_zeros(uint64_t x) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(x));
#else
  return __builtin_clzll(x);
#endif
}
// x as a float whose last bit is set if anything was lost, so that a second rounding gives the same as rounding once.
template <class T>
__device__ FERRULE_OUT_OF_LINE float rounded_to_odd(T x) {
  if constexpr (is_single<T>) {
    return x;
  } else if constexpr (is_floating<T>) {
    const float rounded = static_cast<float>(x);
    const double magnitude = x < 0 ? -x : x, found = rounded < 0 ? -rounded : rounded;
    if (found == magnitude || !(magnitude < 3.4e38)) return rounded;
    return bits_as<float>((bits_as<uint32_t>(rounded) - (found > magnitude ? 1u : 0u)) | 1u);
  } else {
    const bool is_negative = is_signed_integer<T> && static_cast<int64_t>(x) < 0;
    uint64_t magnitude = static_cast<uint64_t>(x);
    if (is_negative) magnitude = 0 - magnitude;
    if (magnitude >> 24 != 0) {
      const int lost = 40 - leading_zeros(magnitude);
      const uint64_t kept = magnitude >> lost;
      magnitude = (kept << lost == magnitude ? kept : kept | 1) << lost;
    }
    const float value = static_cast<float>(magnitude);
    return is_negative ? -value : value;
  }
}
template <class T>
__device__ __forceinline__ float to_f16(T x) {
  return to_float(from_float<Half>(rounded_to_odd<T>(x)));
}
template <>
__device__ __forceinline__ float to_f16(float x) {
  return to_float(from_float<Half>(x));
}
template <class T>
__device__ __forceinline__ float to_bf16(T x) {
  return to_float(from_float<BFloat16>(rounded_to_odd<T>(x)));
}
template <>
__device__ __forceinline__ float to_bf16(float x) {
  return to_float(from_float<BFloat16>(x));
}

// ---- float8 (OCP OFP8, 2023), as bits
// The magnitude's bits, from those of a float, rounded to the nearest, ties to even. Numbers that are too large, and
// NaN, give bits above those of the greatest number.
template <int mantissa_bits, int bias>
__device__ __forceinline__ uint32_t narrow_magnitude(uint32_t magnitude) {
  constexpr int shift = 23 - mantissa_bits;
  constexpr uint32_t least_normal = static_cast<uint32_t>(128 - bias) << 23;
  constexpr uint32_t rebias = static_cast<uint32_t>(127 - bias) << 23;
  // The last bit of this float is the smallest denormal of the result.
  constexpr uint32_t large = static_cast<uint32_t>(127 + 24 - bias - mantissa_bits) << 23;
  if (magnitude < least_normal) return bits_as<uint32_t>(bits_as<float>(magnitude) + bits_as<float>(large)) - large;
  return (magnitude - rebias + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1u)) >> shift;
}
// This float8 has no infinity: numbers that are too large become NaN.
template <class T>
__device__ FERRULE_OUT_OF_LINE uint32_t to_f8_e4m3fn(T x) {
  const uint32_t bits = bits_as<uint32_t>(rounded_to_odd<T>(x)), number = narrow_magnitude<3, 7>(bits & 0x7fffffffu);
  return (bits >> 24 & 0x80u) | (number > 0x7eu ? 0x7fu : number);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE uint32_t to_f8_e5m2(T x) {
  const uint32_t bits = bits_as<uint32_t>(rounded_to_odd<T>(x)), magnitude = bits & 0x7fffffffu;
  const uint32_t number = narrow_magnitude<2, 15>(magnitude);
  return (bits >> 24 & 0x80u) | (magnitude > 0x7f800000u ? 0x7eu : number > 0x7bu ? 0x7cu : number);
}
template <class T>
__device__ __forceinline__ float from_f8_e4m3fn(T bits) {
  const uint32_t magnitude = bits & 0x7fu;
  // The product has the exponent's bias of a float, also for denormals.
  const float number = bits_as<float>(magnitude << 20) * 0x1p120f;
  return bits_as<float>((bits & 0x80u) << 24 | (magnitude == 0x7fu ? 0x7fc00000u : bits_as<uint32_t>(number)));
}
template <class T>
__device__ __forceinline__ float from_f8_e5m2(T bits) {
  return to_float(Half{static_cast<uint16_t>(bits << 8)});
}

}  // namespace ferrule::cuda::elementwise
