// Arithmetic. Integers wrap. Division follows Python: floor_divide and remainder round towards minus infinity, and an
// integer divided by zero is zero, as in NumPy.
#pragma once

#include "kernels/elementwise/rounding.h"

namespace ferrule::cuda::elementwise {

// The type in which sums and products of T wrap without undefined behaviour.
template <class T, bool floating = is_floating<T>>
struct WrappingType {
  using Type = Bits<T>;
};
template <class T>
struct WrappingType<T, true> {
  using Type = T;
};
template <class T>
using Wrapping = typename WrappingType<T>::Type;

template <class T>
__device__ __forceinline__ T add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T>
__device__ __forceinline__ T subtract(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <class T>
__device__ __forceinline__ T multiply(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
template <class T>
__device__ __forceinline__ T square(T a) {
  return multiply<T>(a, a);
}
template <class T>
__device__ __forceinline__ T divide(T a, T b) {
  return a / b;
}
template <class T>
__device__ __forceinline__ T reciprocal(T a) {
  return T(1) / a;
}
template <class T>
__device__ __forceinline__ T negative(T a) {
  if constexpr (is_floating<T>)
    return -a;
  else
    return static_cast<T>(Bits<T>(0) - static_cast<Bits<T>>(a));
}
template <class T>
__device__ __forceinline__ T abs(T a) {
  if constexpr (is_single<T>)
    return ::fabsf(a);
  else if constexpr (is_floating<T>)
    return ::fabs(a);
  else if constexpr (is_signed_integer<T>)
    return a < T(0) ? negative<T>(a) : a;
  else
    return a;
}
template <class T>
__device__ __forceinline__ T sign(T a) {
  if constexpr (is_floating<T>)
    return a > T(0) ? T(1) : a < T(0) ? T(-1) : a == T(0) ? T(0) : a;
  else
    return a > T(0) ? T(1) : a == T(0) ? T(0) : static_cast<T>(-1);
}
template <class T>
__device__ __forceinline__ T copysign(T a, T b) {
  if constexpr (is_single<T>)
    return ::copysignf(a, b);
  else
    return ::copysign(a, b);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T hypot(T a, T b) {
  if constexpr (is_single<T>)
    return ::hypotf(a, b);
  else
    return ::hypot(a, b);
}
// The result has the sign of a, as with math.fmod.
template <class T>
__device__ FERRULE_OUT_OF_LINE T fmod(T a, T b) {
  if constexpr (is_single<T>)
    return ::fmodf(a, b);
  else
    return ::fmod(a, b);
}

template <class T>
__device__ FERRULE_OUT_OF_LINE T floor_divide(T a, T b) {
  if constexpr (is_floating<T>) {
    // Starts from the exact remainder, so that a quotient just below an integer is not rounded up to it. The result
    // for infinities is floor(a / b), as the array API standard prefers.
    if (b == T(0) || a - a != T(0) || b - b != T(0)) return a / b;
    const T rest = fmod<T>(a, b);
    T quotient = (a - rest) / b;
    if (rest != T(0) && (b < T(0)) != (rest < T(0))) quotient -= T(1);
    if (quotient == T(0)) return copysign<T>(T(0), a / b);
    const T whole = floor<T>(quotient);
    return quotient - whole > T(0.5) ? whole + T(1) : whole;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (is_signed_integer<T>) {
      if (b == T(-1)) return negative<T>(a);
      const T quotient = a / b;
      return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
    } else {
      return a / b;
    }
  }
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T remainder(T a, T b) {
  if constexpr (is_floating<T>) {
    const T rest = fmod<T>(a, b);
    if (rest == T(0)) return b < T(0) ? -T(0) : T(0);
    // `rest` is NaN if a or b is NaN, a is infinite, or b is 0.
    return (rest < T(0)) != (b < T(0)) ? rest + b : rest;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (is_signed_integer<T>) {
      if (b == T(-1)) return T(0);
      const T rest = a % b;
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      return a % b;
    }
  }
}

// The number after `a` towards b, given bits that increase with the magnitude; they differ, and neither is NaN.
template <class Bits>
__device__ __forceinline__ Bits next_bits(Bits a, Bits b, bool is_less, bool is_negative, bool is_zero) {
  constexpr Bits sign = static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));
  if (is_zero) return static_cast<Bits>((b & sign) | Bits(1));
  return static_cast<Bits>(is_less != is_negative ? a + Bits(1) : a - Bits(1));
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T nextafter(T a, T b) {
  if (a != a || b != b) return a + b;
  if (a == b) return b;
  return bits_as<T>(next_bits(bits_as<Bits<T>>(a), bits_as<Bits<T>>(b), a < b, a < T(0), a == T(0)));
}
template <class Stored>
__device__ FERRULE_OUT_OF_LINE float next_stored(float a, float b) {
  if (a != a || b != b) return a + b;
  if (a == b) return b;
  return to_float(
      Stored{next_bits(from_float<Stored>(a).bits, from_float<Stored>(b).bits, a < b, a < 0.0f, a == 0.0f)});
}
template <class T>
__device__ __forceinline__ T nextafter_f16(T a, T b) {
  return next_stored<Half>(a, b);
}
template <class T>
__device__ __forceinline__ T nextafter_bf16(T a, T b) {
  return next_stored<BFloat16>(a, b);
}

// x = mantissa * 2^exponent, where 0.5 <= |mantissa| < 1. Zeros, infinities and NaN are their own mantissas, with the
// exponent 0.
template <class T>
struct Parts {
  T mantissa;
  int32_t exponent;
};
template <class T>
__device__ __forceinline__ Parts<T> parts_of(T x) {
  constexpr int digits = is_single<T> ? 23 : 52, bias = is_single<T> ? 126 : 1022;
  constexpr Bits<T> hidden = Bits<T>(1) << digits, sign = Bits<T>(1) << (8 * sizeof(T) - 1);
  constexpr Bits<T> infinity = (sign - 1) & ~(hidden - 1);
  Bits<T> bits = bits_as<Bits<T>>(x), magnitude = bits & ~sign;
  if (magnitude == 0 || magnitude >= infinity) return {x, 0};
  int32_t less = bias;
  if (magnitude < hidden) {  // subnormal: multiplied by 2^digits, it is normal
    bits = bits_as<Bits<T>>(x * static_cast<T>(hidden));
    magnitude = bits & ~sign;
    less += digits;
  }
  const Bits<T> mantissa = (bits & (sign | (hidden - 1))) | static_cast<Bits<T>>(bias) << digits;
  return {bits_as<T>(mantissa), static_cast<int32_t>(magnitude >> digits) - less};
}
template <class T>
__device__ __forceinline__ T frexp_mantissa(T x) {
  return parts_of(x).mantissa;
}
template <class T>
__device__ __forceinline__ int32_t frexp_exponent(T x) {
  return parts_of(x).exponent;
}

}  // namespace ferrule::cuda::elementwise
