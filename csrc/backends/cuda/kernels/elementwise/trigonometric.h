// Trigonometric and hyperbolic functions.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ FERRULE_OUT_OF_LINE T sin(T x) {
  if constexpr (is_single<T>)
    return ::sinf(x);
  else
    return ::sin(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T cos(T x) {
  if constexpr (is_single<T>)
    return ::cosf(x);
  else
    return ::cos(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T tan(T x) {
  if constexpr (is_single<T>)
    return ::tanf(x);
  else
    return ::tan(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T asin(T x) {
  if constexpr (is_single<T>)
    return ::asinf(x);
  else
    return ::asin(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T acos(T x) {
  if constexpr (is_single<T>)
    return ::acosf(x);
  else
    return ::acos(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T atan(T x) {
  if constexpr (is_single<T>)
    return ::atanf(x);
  else
    return ::atan(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T atan2(T y, T x) {
  if constexpr (is_single<T>)
    return ::atan2f(y, x);
  else
    return ::atan2(y, x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T sinh(T x) {
  if constexpr (is_single<T>)
    return ::sinhf(x);
  else
    return ::sinh(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T cosh(T x) {
  if constexpr (is_single<T>)
    return ::coshf(x);
  else
    return ::cosh(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T asinh(T x) {
  if constexpr (is_single<T>)
    return ::asinhf(x);
  else
    return ::asinh(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T acosh(T x) {
  if constexpr (is_single<T>)
    return ::acoshf(x);
  else
    return ::acosh(x);
}
template <class T>
__device__ FERRULE_OUT_OF_LINE T atanh(T x) {
  if constexpr (is_single<T>)
    return ::atanhf(x);
  else
    return ::atanh(x);
}
template <class T>
__device__ T tanh(T x);
template <>
__device__ __forceinline__ float tanh(float x) {
  return ::tanhf(x);
}
template <>
__device__ FERRULE_OUT_OF_LINE double tanh(double x) {
  return ::tanh(x);
}

}  // namespace ferrule::cuda::elementwise
