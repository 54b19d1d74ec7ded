// Rounding to integers.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ __forceinline__ T floor(T x) {
  if constexpr (is_single<T>)
    return ::floorf(x);
  else if constexpr (is_floating<T>)
    return ::floor(x);
  else
    return x;
}
template <class T>
__device__ __forceinline__ T ceil(T x) {
  if constexpr (is_single<T>)
    return ::ceilf(x);
  else if constexpr (is_floating<T>)
    return ::ceil(x);
  else
    return x;
}
template <class T>
__device__ __forceinline__ T trunc(T x) {
  if constexpr (is_single<T>)
    return ::truncf(x);
  else if constexpr (is_floating<T>)
    return ::trunc(x);
  else
    return x;
}
// Ties to even.
template <class T>
__device__ __forceinline__ T round(T x) {
  if constexpr (is_single<T>)
    return ::rintf(x);
  else if constexpr (is_floating<T>)
    return ::rint(x);
  else
    return x;
}

}  // namespace ferrule::cuda::elementwise
