// Inverse hyperbolic functions of float32: logarithms of 1 + u, where u loses no digits near zero.

// log(2 x). From x = 4096 on, asinh and acosh differ from it by less than a unit's hundredth.
float logarithm_of_double(float x) {
  Logarithm l = logarithm(x);
  return logarithm_of(l.fraction, float(l.exponent + 1), 0.0);
}
float acosh_f32(float x) {
  if (is_nan(x) || ordered(x) < ordered(1.0)) return not_a_number();
  if (is_infinite(x)) return x;
  if (x >= 4096.0) return logarithm_of_double(x);
  precise float t = x - 1.0;
  precise float square = t * (x + 1.0);
  return log1p_f32(add_f32(t, sqrt_f32(square)));
}
// sqrt(a^2 + 1) - 1 = a^2 / (1 + sqrt(a^2 + 1))
float asinh_f32(float x) {
  if (is_nan(x) || is_infinite(x) || magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  float a = abs_f32(x), y;
  if (a >= 4096.0) {
    y = logarithm_of_double(a);
  } else {
    precise float square = a * a;
    precise float divisor = 1.0 + sqrt_f32(square + 1.0);
    y = log1p_f32(add_f32(a, divide_f32(square, divisor)));
  }
  return uintBitsToFloat(floatBitsToUint(y) | sign_bit(x));
}
// log((1 + a) / (1 - a)) / 2, as log(1 + u) / 2, u = 2 a / (1 - a) = 2 a + 2 a^2 / (1 - a). For a >= 1/2, 1 - a is
// exact.
float atanh_f32(float x) {
  float a = abs_f32(x);
  if (is_nan(x) || a > 1.0) return not_a_number();
  if (magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  precise float twice = a + a;
  precise float rest = 1.0 - a;
  float u = a < 0.5 ? add_f32(twice, divide_f32(multiply_f32(twice, a), rest)) : divide_f32(twice, rest);
  float y = multiply_f32(0.5, log1p_f32(u));
  return uintBitsToFloat(floatBitsToUint(y) | sign_bit(x));
}
