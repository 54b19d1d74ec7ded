// Activation functions of float32, and erf.

float tanh_f32(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x39000000u) return x;  // 2^-13
  float a = min(abs_f32(x), 10.0);
  precise float y;
  if (a < 0.625) {
    // Cephes'
    precise float z = a * a;
    precise float p = -5.70498872745e-3 * z + 2.06390887954e-2;
    p = p * z - 5.37397155531e-2;
    p = p * z + 1.33314422036e-1;
    p = p * z - 3.33332819422e-1;
    y = p * (z * a) + a;
  } else {
    precise float sum = value_of(exponential(2.0 * a)) + 1.0;
    y = 1.0 - divide_f32(2.0, sum);
  }
  return uintBitsToFloat(floatBitsToUint(y) | sign_bit(x));
}

// v / (1 + e^-(x + rest)), which for negative x is v e^x / (1 + e^x): the power of two comes last, so that a result
// that is not subnormal keeps its digits.
float gated(float v, float x, float rest) {
  bool is_negative = x < 0.0;
  Exponential e = exponential(is_negative ? max(x, -180.0) : max(-x, -180.0), is_negative ? rest : -rest);
  precise float mantissa = 1.0 + e.fraction;
  precise float sum = 1.0 + scaled(mantissa, e.n);
  if (!is_negative) return divide_f32(v, sum);
  precise float product = v * mantissa;
  return scaled(divide_f32(product, sum), e.n);
}
float sigmoid_f32(float x) { return is_nan(x) ? x : gated(1.0, x, 0.0); }
float silu_f32(float x) {
  if (is_nan(x) || is_zero(x)) return x;
  if (is_infinite(x)) return sign_bit(x) != 0u ? not_a_number() : x;
  return gated(max(x, -180.0), x, 0.0);
}

// N. Juffa's: x + x p(x^2), and 1 - e^r from where that leaves its range.
float erf_f32(float x) {
  if (is_nan(x)) return x;
  // 2 x / sqrt(pi), of what is or may become subnormal.
  if (magnitude_bits(x) < 0x10000000u) return scaled(multiply_f32(scaled(x, 64), 1.12837917), -64);
  float t = min(abs_f32(x), 4.0);
  precise float s = t * t;
  if (magnitude_bits(x) <= 0x3f6d8000u) {  // 0.927734375
    precise float p = -5.96761703e-4 * s + 4.99119423e-3;
    p = p * s - 2.67681349e-2;
    p = p * s + 1.12819925e-1;
    p = p * s - 3.76125336e-1;
    p = p * s + 1.28379166e-1;
    p = p * x + x;
    return p;
  }
  precise float r = -1.72853470e-5 * t + 3.83197126e-4;
  precise float u = -3.88396438e-3 * t + 2.42546219e-2;
  r = r * s + u;
  r = r * t - 1.06777877e-1;
  r = r * t - 6.34846687e-1;
  r = r * t - 1.28717512e-1;
  r = r * t - t;
  precise float y = 1.0 - value_of(exponential(r));
  return uintBitsToFloat(floatBitsToUint(y) | sign_bit(x));
}
