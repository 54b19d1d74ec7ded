// The complementary error function of float32, without cancellation for large arguments.

// (1 + 2 a) e^(a^2) erfc(a) = 1 + p(q), q = (a - 2) / (a + 2): M. M. Shepherd & J. G. Laframboise (1981), a method that
// N. Juffa applies to float32. The polynomial is minimax up to a = 10.06, fitted by Remez' algorithm with mpmath: error
// 0.22 * 2^-24.
float erfc_f32(float x) {
  if (is_nan(x)) return x;
  float a = min(abs_f32(x), 10.1);
  if (a < 0.46875) return subtract_f32(1.0, erf_f32(x));
  float q = divide_f32(subtract_f32(a, 2.0), add_f32(a, 2.0));
  precise float p = -4.01031954e-4 * q - 1.23070541e-3;
  p = p * q + 1.31360593e-3;
  p = p * q + 8.63231730e-3;
  p = p * q - 8.05976614e-3;
  p = p * q - 5.42044640e-2;
  p = p * q + 0.164055318;
  p = p * q - 0.166031405;
  p = p * q - 9.27639827e-2;
  p = p * q + 0.276978403;
  Pair numerator = fast_sum(1.0, p), denominator = exact_sum(1.0, add_f32(a, a));
  float quotient = divide_f32(numerator.high, denominator.high);
  precise float ratio = quotient + (numerator.low - quotient * denominator.low) / denominator.high;
  // The square is a pair of floats, because the exponential magnifies its rounding error.
  Pair square = exact_product(a, a);
  Exponential e = exponential(-square.high, -square.low);
  precise float product = ratio * (1.0 + e.fraction);
  float y = scaled(product, e.n);
  return sign_bit(x) != 0u ? subtract_f32(2.0, y) : y;
}
