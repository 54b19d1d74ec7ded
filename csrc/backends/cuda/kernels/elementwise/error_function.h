// The error function and its complement.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ T erf(T x);
template <>
__device__ __forceinline__ float erf(float x) {
  return ::erff(x);
}
template <>
__device__ FERRULE_OUT_OF_LINE double erf(double x) {
  return ::erf(x);
}

template <class T>
__device__ FERRULE_OUT_OF_LINE T erfc(T x) {
  if constexpr (is_single<T>)
    return ::erfcf(x);
  else
    return ::erfc(x);
}

}  // namespace ferrule::cuda::elementwise
