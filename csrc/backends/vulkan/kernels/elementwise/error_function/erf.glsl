// The error function of float32.

// N. Juffa's method: x + x p(x^2), and 1 - e^r outside its range.
float erf_f32(float x) {
  if (is_nan(x)) return x;
  // 2 x / sqrt(pi), for values that are or may become subnormal.
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
