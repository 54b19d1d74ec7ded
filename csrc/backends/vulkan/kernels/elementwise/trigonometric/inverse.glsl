// Inverse trigonometric functions of float32. The polynomials are minimax, fitted by Remez' algorithm with mpmath.

// (asin(s) - s) / s^3 for z = s^2 <= 1/4: error 0.09 * 2^-24.
float arc_sine_series(float z) {
  precise float p = 4.22785842e-2 * z + 2.41144494e-2;
  p = p * z + 4.54833426e-2;
  p = p * z + 7.49519605e-2;
  p = p * z + 0.166667550;
  return p;
}
// asin(sqrt(z)) * 2 as the sum of twice the root, correctly rounded, and the rest; z = (1 - a) / 2, which is exact for
// a >= 1/2, so that this is acos(a) (Cephes).
Pair arc_cosine_near_one(float a) {
  precise float z = 0.5 * (1.0 - a);
  float twice = multiply_f32(2.0, sqrt_f32(z));
  return Pair(twice, multiply_f32(twice, multiply_f32(z, arc_sine_series(z))));
}
float asin_f32(float x) {
  float a = abs_f32(x);
  if (is_nan(x) || a > 1.0) return not_a_number();
  if (magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  precise float y;
  if (a <= 0.5) {
    precise float z = a * a;
    y = arc_sine_series(z) * (z * a) + a;
  } else {
    Pair rest = arc_cosine_near_one(a);
    y = (1.57079637 - rest.high) + (-4.37113883e-8 - rest.low);  // pi / 2
  }
  return uintBitsToFloat(floatBitsToUint(y) | sign_bit(x));
}
float acos_f32(float x) {
  float a = abs_f32(x);
  if (is_nan(x) || a > 1.0) return not_a_number();
  precise float y;
  if (a <= 0.5) {
    precise float z = x * x;
    y = 1.57079637 - (x + (arc_sine_series(z) * (z * x) + 4.37113883e-8));
  } else {
    Pair rest = arc_cosine_near_one(a);
    y = rest.high + rest.low;
    if (sign_bit(x) != 0u) y = 3.14159274 - (rest.high + (rest.low + 8.74227766e-8));  // pi
  }
  return y;
}

// Multiples of pi / 4, in two floats.
const float eighths_high[5] = float[](0.0, 0.785398185, 1.57079637, 2.35619450, 3.14159274);
const float eighths_low[5] = float[](0.0, -2.18556941e-8, -4.37113883e-8, -5.96244032e-9, -8.74227766e-8);

// The angle of the point (x, y) or, with `is_left`, of (-x, y); x and y are finite, not negative, and not both zero.
// The angle is the sum of a multiple of pi / 4 and of the arc tangent of a quotient t, |t| <= 1/2: that of the lesser
// and the greater number, or of their difference and their sum.
float angle_of_point(float y, float x, bool is_left) {
  float low = min(x, y), high = max(x, y);
  int exponent = parts_of(high).exponent;
  float low_scaled = scaled(low, -exponent), high_scaled = scaled(high, -exponent);
  uint eighths = 0u;
  float t;
  if (low_scaled > multiply_f32(0.5, high_scaled)) {
    eighths = 1u;
    t = divide_f32(subtract_f32(low_scaled, high_scaled), add_f32(low_scaled, high_scaled));
  } else {
    t = divide_f32(low, high);
  }
  bool is_steep = y > x;
  if (is_steep) eighths = 2u - eighths;
  if (is_left) eighths = 4u - eighths;
  if (is_steep != is_left) t = negative_f32(t);
  if (eighths == 0u && magnitude_bits(t) < 0x39800000u) return t;  // 2^-12
  // (atan(t) - t) / t^3: error 0.005 * 2^-24.
  precise float z = t * t;
  precise float p = 3.86743814e-2 * z - 7.98076242e-2;
  p = p * z + 0.109401600;
  p = p * z - 0.142719865;
  p = p * z + 0.199994847;
  p = p * z - 0.333333254;
  precise float angle = eighths_high[eighths] + (t + (p * (z * t) + eighths_low[eighths]));
  return angle;
}
float atan_f32(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  float angle = angle_of_point(min(abs_f32(x), 1e9), 1.0, false);
  return uintBitsToFloat(floatBitsToUint(angle) | sign_bit(x));
}
float atan2_f32(float y, float x) {
  if (is_nan(x) || is_nan(y)) return not_a_number();
  float above = abs_f32(y), aside = abs_f32(x);
  if (is_infinite(x) || is_infinite(y)) {
    above = is_infinite(y) ? 1.0 : 0.0;
    aside = is_infinite(x) ? 1.0 : 0.0;
  } else if (is_zero(x) && is_zero(y)) {
    aside = 1.0;
  }
  float angle = angle_of_point(above, aside, sign_bit(x) != 0u);
  return uintBitsToFloat(floatBitsToUint(angle) | sign_bit(y));
}
