// Hyperbolic functions of float32, from e^|x| / 2.

// e^a / 2. It may be finite where e^a is not.
float half_of_exponential(float a) {
  Exponential e = exponential(a);
  return scaled(add_f32(1.0, e.fraction), e.n - 1);
}
// e^-a / 2 for the given e^a / 2. From a = 9 on it changes no sum with that by a quarter of a unit.
float half_of_inverse(float a, float half_) { return a < 9.0 ? divide_f32(0.25, half_) : 0.0; }

float cosh_f32(float x) {
  if (is_nan(x)) return x;
  float a = min(abs_f32(x), 90.0), half_ = half_of_exponential(a);
  return add_f32(half_, half_of_inverse(a, half_));
}
float sinh_f32(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  float a = min(abs_f32(x), 90.0), y;
  if (a < 1.0) {
    // (sinh x - x) / x^3 as a minimax polynomial in x^2, fitted by Remez' algorithm with mpmath: error 0.001 * 2^-24.
    precise float z = a * a;
    precise float p = 2.81747071e-6 * z + 1.98360610e-4;
    p = p * z + 8.33335062e-3;
    p = p * z + 0.166666665;
    y = add_f32(a, multiply_f32(p, multiply_f32(z, a)));
  } else {
    float half_ = half_of_exponential(a);
    y = subtract_f32(half_, half_of_inverse(a, half_));
  }
  return uintBitsToFloat(floatBitsToUint(y) | sign_bit(x));
}
