// Logic on bool.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ __forceinline__ T logical_and(T a, T b) {
  return a & b;
}
template <class T>
__device__ __forceinline__ T logical_or(T a, T b) {
  return a | b;
}
template <class T>
__device__ __forceinline__ T logical_xor(T a, T b) {
  return a ^ b;
}
template <class T>
__device__ __forceinline__ T logical_not(T a) {
  return a ^ T(1);
}

}  // namespace ferrule::cuda::elementwise
