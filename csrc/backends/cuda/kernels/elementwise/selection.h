// Choice between values: by a condition, or by which is greater. NaN is both the maximum and the minimum of NaN and any
// number.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ __forceinline__ T where(uint32_t condition, T a, T b) {
  return condition != 0 ? a : b;
}
template <class T>
__device__ __forceinline__ T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
__device__ __forceinline__ T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
__device__ __forceinline__ T clip(T x, T low, T high) {
  return minimum<T>(maximum<T>(x, low), high);
}

}  // namespace ferrule::cuda::elementwise
