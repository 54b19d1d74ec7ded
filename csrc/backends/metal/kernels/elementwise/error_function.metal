// The error function and its complement.
#pragma once
#include "elementwise/exponential.metal"

// N. Juffa's method: x + x p(x^2), and 1 - e^r outside its range.
inline float op_erf(float x) {
  if (is_nan(x)) return x;
  // 2 x / sqrt(pi), for values that are or may become subnormal.
  if (magnitude_bits(x) < 0x10000000u) return scaled(scaled(x, 64) * 1.12837917f, -64);
  const float t = lesser_of(magnitude_of(x), 4.0f), s = t * t;
  if (magnitude_bits(x) <= 0x3f6d8000u) {  // 0.927734375
    float p = -5.96761703e-4f * s + 4.99119423e-3f;
    p = p * s - 2.67681349e-2f;
    p = p * s + 1.12819925e-1f;
    p = p * s - 3.76125336e-1f;
    p = p * s + 1.28379166e-1f;
    return p * x + x;
  }
  float r = -1.72853470e-5f * t + 3.83197126e-4f;
  const float u = -3.88396438e-3f * t + 2.42546219e-2f;
  r = r * s + u;
  r = r * t - 1.06777877e-1f;
  r = r * t - 6.34846687e-1f;
  r = r * t - 1.28717512e-1f;
  r = r * t - t;
  return with_sign_of(1.0f - value_of(exponential(r)), x);
}

// (1 + 2 a) e^(a^2) erfc(a) = 1 + p(q), q = (a - 2) / (a + 2): M. M. Shepherd & J. G. Laframboise (1981), a method that
// N. Juffa applies to float32, without cancellation for large arguments. The polynomial is minimax up to a = 10.06,
// fitted by Remez' algorithm with mpmath: error 0.22 * 2^-24.
inline float op_erfc(float x) {
  if (is_nan(x)) return x;
  const float a = lesser_of(magnitude_of(x), 10.1f);
  if (a < 0.46875f) return 1.0f - op_erf(x);
  const float q = (a - 2.0f) / (a + 2.0f);
  float p = -4.01031954e-4f * q - 1.23070541e-3f;
  p = p * q + 1.31360593e-3f;
  p = p * q + 8.63231730e-3f;
  p = p * q - 8.05976614e-3f;
  p = p * q - 5.42044640e-2f;
  p = p * q + 0.164055318f;
  p = p * q - 0.166031405f;
  p = p * q - 9.27639827e-2f;
  p = p * q + 0.276978403f;
  const Pair numerator = fast_sum(1.0f, p), denominator = exact_sum(1.0f, a + a);
  const float quotient = numerator.high / denominator.high;
  const float ratio = quotient + (numerator.low - quotient * denominator.low) / denominator.high;
  // The square is a pair of floats, because the exponential magnifies its rounding error.
  const Pair square = exact_product(a, a);
  const Exponential e = exponential(-square.high, -square.low);
  const float y = scaled(ratio * (1.0f + e.fraction), e.n);
  return is_negative(x) ? 2.0f - y : y;
}
