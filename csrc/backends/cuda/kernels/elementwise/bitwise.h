// Logic and shifts on the bits of integers. A shift by the width or more gives the same as repeated shifts by one bit;
// a negative count, taken as unsigned, is at least the width, too. Narrow integers are shifted in 32 bits and
// wrapped.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ __forceinline__ T bitwise_and(T a, T b) {
  return a & b;
}
template <class T>
__device__ __forceinline__ T bitwise_or(T a, T b) {
  return a | b;
}
template <class T>
__device__ __forceinline__ T bitwise_xor(T a, T b) {
  return a ^ b;
}
template <class T>
__device__ __forceinline__ T bitwise_invert(T a) {
  return ~a;
}
template <class T>
__device__ __forceinline__ T bitwise_invert_bool(T a) {
  return a ^ T(1);
}
template <class T>
__device__ __forceinline__ T bitwise_left_shift(T a, T count) {
  constexpr Bits<T> width = 8 * sizeof(T);
  const auto bits = static_cast<Bits<T>>(count);
  return bits >= width ? T(0) : static_cast<T>(static_cast<Bits<T>>(a) << bits);
}
template <class T>
__device__ __forceinline__ T bitwise_right_shift(T a, T count) {
  constexpr Bits<T> width = 8 * sizeof(T);
  const auto bits = static_cast<Bits<T>>(count);
  if constexpr (is_signed_integer<T>)
    return a >> (bits >= width ? width - 1 : bits);
  else
    return bits >= width ? T(0) : a >> bits;
}

}  // namespace ferrule::cuda::elementwise
