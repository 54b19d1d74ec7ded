// Activation functions.
#pragma once
#include "elementwise/exponential.metal"

template <typename T>
T op_relu(T a) {
  return a > T(0) ? a : T(0);
}
inline float op_relu(float a) { return is_nan(a) || ordered(a) > 0 ? a : 0.0f; }

// v / (1 + e^-(x + rest)), which is v e^x / (1 + e^x) for negative x. The power of two is applied last, so that results
// that are not subnormal keep their digits.
inline float gated(float v, float x, float rest) {
  const bool is_low = is_negative(x);
  const Exponential e = exponential(greater_of(is_low ? x : negated(x), -180.0f), is_low ? rest : -rest);
  const float mantissa = 1.0f + e.fraction, sum = 1.0f + scaled(mantissa, e.n);
  return is_low ? scaled(op_divide(op_multiply(v, mantissa), sum), e.n) : op_divide(v, sum);
}
inline float op_sigmoid(float x) { return is_nan(x) ? x : gated(1.0f, x, 0.0f); }
inline float op_silu(float x) {
  if (is_nan(x) || is_zero(x)) return x;
  if (is_infinite(x)) return is_negative(x) ? negated(0.0f) : x;
  return gated(greater_of(x, -180.0f), x, 0.0f);
}

// gelu: x times the normal distribution function of x, as max(x, 0) - a M(a) e^(-a^2 / 2), where a = |x| and M is half
// of Mills' ratio. Nothing cancels in this form except what the definition itself cancels. The square is a pair of
// floats, because the exponential magnifies its rounding error.

// M(a) on [0, 5]: the minimax quotient of csrc/backends/cpu/kernels/activation.cpp; the last steps are exact.
inline float half_of_mills_ratio(float a) {
  const float inner_numerator = (0.0128010297f * a + 0.100632861f) * a + 0.32722643f;
  const float inner_denominator = ((0.0321150608f * a + 0.251563698f) * a + 0.860080242f) * a + 1.45233572f;
  const Pair numerator = line_of(inner_numerator, a, 0.5f), denominator = line_of(inner_denominator, a, 1.0f);
  const float quotient = numerator.high / denominator.high;
  return quotient + (numerator.low - quotient * denominator.low) / denominator.high;
}
// a M(a) for a > 5, as a polynomial in 1 / a^2: chebyfit of mpmath, error 0.7 * 2^-24.
inline float tail_of_mills_ratio(float a) {
  const float u = 1.0f / (a * a);
  float p = -119.2506485f * u + 31.93579292f;
  p = p * u - 5.763807774f;
  p = p * u + 1.194180131f;
  p = p * u - 0.3989267945f;
  return p * u + 0.3989422619f;
}
inline float op_gelu(float x) {
  if (is_nan(x) || is_zero(x)) return x;
  if (is_infinite(x)) return is_negative(x) ? negated(0.0f) : x;
  if (magnitude_bits(x) < 0x32800000u) return scaled(x, -1);  // 2^-26
  const float a = lesser_of(magnitude_of(x), 15.0f);
  const Pair square = exact_product(a, a);
  const Exponential e = exponential(-0.5f * square.high, -0.5f * square.low);
  const float factor = a > 5.0f ? tail_of_mills_ratio(a) : half_of_mills_ratio(a) * a;
  const float tail = scaled(factor * (1.0f + e.fraction), e.n);
  return is_negative(x) ? negated(tail) : x - tail;
}

// x (1 + tanh u) / 2 = x / (1 + e^-2u), 2 u = 2 sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks & Gimpel 2016).
inline float op_gelu_tanh(float x) {
  if (is_nan(x) || is_zero(x)) return x;
  if (is_infinite(x)) return is_negative(x) ? negated(0.0f) : x;
  const float v = limited(x, -12.0f, 12.0f);
  const Pair cubic = product_of(exact_product(v, v), Pair{0.0713548139f, 2.39883247e-9f});
  const Pair u = product_of(sum_of(Pair{1.59576917f, -4.53406805e-8f}, cubic), v);
  return gated(greater_of(x, -12.0f), u.high, u.low);
}
