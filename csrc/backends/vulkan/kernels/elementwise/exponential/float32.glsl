// Exponentials and logarithms of float32. The reduction follows Cody & Waite, with constants of few bits, so that no
// fma is needed.

// e^(x + rest) = 2^n (1 + fraction), for |x| < 200 and a rest that is small compared to 1.
struct Exponential {
  int n;
  float fraction;
};
Exponential exponential(float x, float rest) {
  precise float n = x * 1.44269504;
  n = (n + 12582912.0) - 12582912.0;
  precise float r = (x - n * 0.693359375) + (n * 2.12194440e-4 + rest);
  // (e^r - 1 - r) / r^2, minimax on |r| <= ln(2) / 2.
  precise float p = 0.00138144779855;
  p = p * r + 0.00836878046964;
  p = p * r + 0.0416683939957;
  p = p * r + 0.166665201074;
  p = p * r + 0.499999934135;
  precise float fraction = p * (r * r) + r;
  return Exponential(int(n), fraction);
}
Exponential exponential(float x) { return exponential(x, 0.0); }
float value_of(Exponential e) { return scaled(add_f32(1.0, e.fraction), e.n); }

float exp_f32(float x) {
  if (is_nan(x)) return x;
  return value_of(exponential(clamp(x, -104.5, 89.0)));
}
float expm1_f32(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x32800000u) return x;  // 2^-26
  Exponential e = exponential(clamp(x, -20.0, 89.0));
  // 2^n (fraction + (1 - 2^-n))
  precise float sum = e.fraction + (1.0 - scaled(1.0, -e.n));
  return scaled(sum, e.n);
}

// x = 2^exponent (1 + fraction), sqrt(1/2) <= 1 + fraction < sqrt(2); x is positive and finite.
struct Logarithm {
  int exponent;
  float fraction;
};
Logarithm logarithm(float x) {
  Parts parts = parts_of(x);
  bool is_high = parts.mantissa >= 0x00b504f3u;
  uint bits = (parts.mantissa & 0x007fffffu) | (is_high ? 0x3f000000u : 0x3f800000u);
  return Logarithm(parts.exponent + int(is_high), subtract_f32(uintBitsToFloat(bits), 1.0));
}
// log(2^exponent (1 + f)) + rest. The polynomial is Cephes'.
float logarithm_of(float f, float exponent, float rest) {
  precise float square = f * f;
  precise float p = 7.0376836292e-2;
  p = p * f - 1.1514610310e-1;
  p = p * f + 1.1676998740e-1;
  p = p * f - 1.2420140846e-1;
  p = p * f + 1.4249322787e-1;
  p = p * f - 1.6668057665e-1;
  p = p * f + 2.0000714765e-1;
  p = p * f - 2.4999993993e-1;
  p = p * f + 3.3333331174e-1;
  precise float y = p * (f * square) + rest;
  y = y - exponent * 2.12194440e-4;
  y = y - 0.5 * square;
  y = (f + y) + exponent * 0.693359375;
  return y;
}
float log_f32(float x) {
  if (is_nan(x)) return x;
  if (is_zero(x)) return signed_infinity(SIGN_BIT);
  if (sign_bit(x) != 0u) return not_a_number();
  if (is_infinite(x)) return x;
  Logarithm l = logarithm(x);
  return logarithm_of(l.fraction, float(l.exponent), 0.0);
}
float log1p_f32(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x32800000u) return x;
  int place = ordered(x);
  if (place < ordered(-1.0)) return not_a_number();
  if (place == ordered(-1.0)) return signed_infinity(SIGN_BIT);
  if (is_infinite(x)) return x;
  if (place >= ordered(-0.29) && place <= ordered(0.41)) return logarithm_of(x, 0.0, 0.0);
  precise float sum = 1.0 + x;
  precise float lost = magnitude_bits(x) > 0x3f800000u ? 1.0 - (sum - x) : x - (sum - 1.0);
  Logarithm l = logarithm(sum);
  precise float part = lost / sum;
  return logarithm_of(l.fraction, float(l.exponent), part);
}
