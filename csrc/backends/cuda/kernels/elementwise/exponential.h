// Exponentials, logarithms, powers and roots.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ T exp(T x);
template <>
__device__ __forceinline__ float exp(float x) {
  return ::expf(x);
}
template <>
__device__ FERRULE_OUT_OF_LINE double exp(double x) {
  return ::exp(x);
}
template <class T>
__device__ T log(T x);
template <>
__device__ __forceinline__ float log(float x) {
  return ::logf(x);
}
template <>
__device__ FERRULE_OUT_OF_LINE double log(double x) {
  return ::log(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T exp2(T x) {
  if constexpr (is_single<T>)
    return ::exp2f(x);
  else
    return ::exp2(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T expm1(T x) {
  if constexpr (is_single<T>)
    return ::expm1f(x);
  else
    return ::expm1(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T log2(T x) {
  if constexpr (is_single<T>)
    return ::log2f(x);
  else
    return ::log2(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T log10(T x) {
  if constexpr (is_single<T>)
    return ::log10f(x);
  else
    return ::log10(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T log1p(T x) {
  if constexpr (is_single<T>)
    return ::log1pf(x);
  else
    return ::log1p(x);
}

// log(e^a + e^b) = high + log(1 + e^(low - high)). The difference is exact, as a sum of two numbers. Where the
// logarithm is near -high and cancels it, float32 is computed in double precision.
template <class T>
__device__ FERRULE_OUT_OF_LINE T logaddexp(T a, T b) {
  if (a != a || b != b) return a + b;
  if (a == b) return T(double(a) + 0.69314718055994530942);
  const T high = a > b ? a : b, low = a > b ? b : a, difference = low - high;
  if (difference - difference != T(0)) return high + T(0);  // infinite; -0 becomes 0, as in the sum below
  const T part = difference - low;
  const T rest = (low - (difference - part)) - (high + part);
  const T power = exp<T>(difference);
  const T result = high + log1p<T>(power + power * rest);
  if constexpr (is_single<T>)
    if (::fabsf(result) < T(0.25) * ::fabsf(high))
      return T(double(high) + log1p<double>(exp<double>(double(low) - double(high))));
  return result;
}

template <class T>
__device__ __forceinline__ T sqrt(T x) {
  if constexpr (is_single<T>)
    return ::sqrtf(x);
  else
    return ::sqrt(x);
}
template <class T>
__device__ __forceinline__ T rsqrt(T x) {
  return T(1) / sqrt<T>(x);
}

// Integer powers are computed by squaring, modulo 2^width. A negative power of an integer is an error; its detail is
// the dtype.
template <class T>
__device__ FERRULE_OUT_OF_LINE T pow(T a, T b, const FaultContext& context) {
  if constexpr (is_single<T>) {
    return ::powf(a, b);
  } else if constexpr (is_floating<T>) {
    return ::pow(a, b);
  } else {
    if (is_signed_integer<T> && static_cast<Bits<T>>(b) >> (8 * sizeof(T) - 1) != 0) {
      report(context.record, Fault::power, context.detail, 0, 0, 0);
      return T(0);
    }
    Bits<T> base = static_cast<Bits<T>>(a), result = 1;
    for (Bits<T> power = static_cast<Bits<T>>(b); power != 0; power >>= 1, base *= base)
      if ((power & 1) != 0) result *= base;
    return static_cast<T>(result);
  }
}

}  // namespace ferrule::cuda::elementwise
