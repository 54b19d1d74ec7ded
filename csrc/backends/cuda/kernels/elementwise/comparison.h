// Tests with a bool result.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ __forceinline__ uint32_t equal(T a, T b) {
  return a == b;
}
template <class T>
__device__ __forceinline__ uint32_t not_equal(T a, T b) {
  return a != b;
}
template <class T>
__device__ __forceinline__ uint32_t less(T a, T b) {
  return a < b;
}
template <class T>
__device__ __forceinline__ uint32_t less_equal(T a, T b) {
  return a <= b;
}
template <class T>
__device__ __forceinline__ uint32_t greater(T a, T b) {
  return a > b;
}
template <class T>
__device__ __forceinline__ uint32_t greater_equal(T a, T b) {
  return a >= b;
}
template <class T>
__device__ __forceinline__ uint32_t isnan(T a) {
  return a != a;
}
template <class T>
__device__ __forceinline__ uint32_t isinf(T a) {
  return a == a && a - a != T(0);
}
template <class T>
__device__ __forceinline__ uint32_t isfinite(T a) {
  return a - a == T(0);
}
template <class T>
__device__ __forceinline__ uint32_t signbit(T a) {
  return static_cast<uint32_t>(bits_as<Bits<T>>(a) >> (8 * sizeof(T) - 1));
}

}  // namespace ferrule::cuda::elementwise
