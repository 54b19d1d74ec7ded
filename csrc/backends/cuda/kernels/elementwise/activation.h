// Activation functions.
#pragma once

#include "kernels/elementwise/error_function.h"
#include "kernels/elementwise/exponential.h"

namespace ferrule::cuda::elementwise {

template <class T>
__device__ __forceinline__ T relu(T x) {
  return x > T(0) || x != x ? x : T(0);
}

// x, or a bound where it is less; NaN stays.
template <class T>
__device__ __forceinline__ T at_least(T bound, T x) {
  return x < bound ? bound : x;
}

// v / (1 + e^-(x + rest)), for a finite v where x is far below 0. Far below 0 it is v e^x; the power is divided by
// e^-shift meanwhile, so that it is not subnormal and keeps its digits until v is multiplied. Sums of x and `shift` are
// exact there.
template <class T>
__device__ __forceinline__ T gated(T v, T x, T rest) {
  constexpr T far = is_single<T> ? T(-80) : T(-700), shift = is_single<T> ? T(24) : T(64);
  constexpr T scale = is_single<T> ? T(3.7751345442790977e-11) : T(1.603810890548638e-28);  // e^-shift
  const bool is_far = x < far;
  T power = exp<T>(is_far ? x + shift : -x);
  power = power + power * (is_far ? rest : -rest);
  return is_far ? v * power * scale : v / (T(1) + power);
}

template <class T>
__device__ T sigmoid(T x);
template <>
__device__ __forceinline__ float sigmoid(float x) {
  return gated(1.0f, x, 0.0f);
}
template <>
__device__ FERRULE_OUT_OF_LINE double sigmoid(double x) {
  return gated(1.0, x, 0.0);
}

template <class T>
__device__ T silu(T x);
template <>
__device__ __forceinline__ float silu(float x) {
  return gated(at_least(-200.0f, x), x, 0.0f);  // -inf * 0 is NaN
}
template <>
__device__ FERRULE_OUT_OF_LINE double silu(double x) {
  return gated(at_least(-2000.0, x), x, 0.0);
}

template <class T>
__device__ T gelu(T x);
// x times the normal distribution function of x, as max(x, 0) - a M(a) e^(-a^2 / 2), where a = |x| and M is half of
// Mills' ratio. Nothing cancels in this form except what the definition itself cancels. M is a minimax quotient up to 5
// (csrc/backends/cpu/kernels/activation.cpp), and beyond it a M(a) is a polynomial in 1 / a^2 (the Vulkan kernels). The
// rounding errors of the square, which the exponential magnifies, and of the quotient are added at the end.
template <>
__device__ __forceinline__ float gelu(float x) {
  const float a = ::fminf(::fabsf(x), 15.0f);
  const float square = a * a, half_rest = 0.5f * ::fmaf(a, a, -square);
  const float power = ::expf(-0.5f * square);
  const bool is_far = a > 5.0f;

  const float p = ::fmaf(::fmaf(0.0128010297f, a, 0.100632861f), a, 0.32722643f);
  const float numerator = ::fmaf(p, a, 0.5f), numerator_rest = ::fmaf(p, a, 0.5f - numerator);
  const float q = ::fmaf(::fmaf(::fmaf(0.0321150608f, a, 0.251563698f), a, 0.860080242f), a, 1.45233572f);
  const float denominator = ::fmaf(q, a, 1.0f), denominator_rest = ::fmaf(q, a, 1.0f - denominator);
  const float inverse = 1.0f / (is_far ? square : denominator);
  const float ratio = numerator * inverse;
  const float remainder = ::fmaf(-ratio, denominator, numerator) + (numerator_rest - ratio * denominator_rest);

  float far = ::fmaf(-119.2506485f, inverse, 31.93579292f);
  far = ::fmaf(far, inverse, -5.763807774f);
  far = ::fmaf(far, inverse, 1.194180131f);
  far = ::fmaf(far, inverse, -0.3989267945f);
  far = ::fmaf(far, inverse, 0.3989422619f);

  const float factor = is_far ? far : ratio * a;
  const float rest = is_far ? 0.0f : remainder * inverse * a;
  const float tail = ::fabsf(::fmaf(power, ::fmaf(factor, -half_rest, rest), factor * power));  // where it is 0, not -0
  return (x < 0.0f ? -0.0f : x) - tail;
}
// Rounding z costs hundreds of ULP in the tail, where the slope of log(erfc), -(2 z + 1 / z), is large; the result is
// corrected for it.
template <>
__device__ FERRULE_OUT_OF_LINE double gelu(double x) {
  if (x < -40) return -0.0;  // less than half of the least number
  constexpr double root = 0.70710678118654752440, rest_of_root = -4.8336466567264565e-17;
  const double z = -x * root, whole = 0.5 * x * erfc<double>(z);
  if (!(z > 1 && z < 30)) return whole;
  const double rest = ::fma(-x, root, -z) - x * rest_of_root;
  return whole - whole * ((2 * z + 1 / z) * rest);
}

// x (1 + tanh u) / 2 = x / (1 + e^-2u), 2 u = 2 sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks & Gimpel 2016).
template <class T>
__device__ T gelu_tanh(T x);
// 2 u is a sum of two floats, because the exponential magnifies its rounding error.
template <>
__device__ __forceinline__ float gelu_tanh(float x) {
  constexpr float linear = 1.59576917f, linear_rest = -4.53406805e-8f;
  constexpr float cubic = 0.0713548139f, cubic_rest = 2.39883247e-9f;
  const float v = ::fminf(::fmaxf(x, -12.0f), 12.0f);
  const float square = v * v, square_rest = ::fmaf(v, v, -square);
  const float product = cubic * square;
  const float product_rest = ::fmaf(cubic, square, -product) + (cubic * square_rest + cubic_rest * square);
  const float sum = linear + product, part = sum - linear;
  const float sum_rest = (linear - (sum - part)) + (product - part) + (product_rest + linear_rest);
  const float high = sum * v, low = ::fmaf(sum, v, -high) + sum_rest * v;
  return gated(at_least(-12.0f, x), high, low);
}
template <>
__device__ FERRULE_OUT_OF_LINE double gelu_tanh(double x) {
  const double v = ::fmin(::fmax(x, -24.0), 24.0);
  return gated(at_least(-24.0, x), 2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v), 0.0);
}

}  // namespace ferrule::cuda::elementwise
