// Exponentials to base 2, and logarithms to the bases 2 and 10, of float32.

// 2^x = 2^n e^(r ln 2), n + r = x, |r| <= 1/2.
float exp2_f32(float x) {
  if (is_nan(x)) return x;
  float limited = clamp(x, -151.0, 129.0), n = round_f32(limited), r = subtract_f32(limited, n);
  Exponential e = exponential(multiply_f32(r, 0.693147182), multiply_f32(r, -1.90465421e-9));
  return scaled(add_f32(1.0, e.fraction), e.n + int(n));
}

bool is_positive_and_finite(float x) { return floatBitsToUint(x) - 1u < INFINITY_BITS - 1u; }

// log(1 + f) of the fraction times log2(e), or log10(e), plus the logarithm of the power of two.
float log2_f32(float x) {
  if (!is_positive_and_finite(x)) return log_f32(x);
  Logarithm l = logarithm(x);
  float y = logarithm_of(l.fraction, 0.0, 0.0);
  precise float fraction = y * 0.442695041 + y;
  return add_f32(float(l.exponent), fraction);
}
// log10(2) has few bits in its first part, so that its product with the exponent is exact, as in Cephes.
float log10_f32(float x) {
  if (!is_positive_and_finite(x)) return log_f32(x);
  Logarithm l = logarithm(x);
  float y = multiply_f32(logarithm_of(l.fraction, 0.0, 0.0), 0.434294482), n = float(l.exponent);
  precise float sum = n * 0.30078125 + (n * 2.48745664e-4 + y);
  return sum;
}
