// Trigonometric and hyperbolic functions, and their inverses. Angles of sine and cosine are reduced in integers, after
// Payne & Hanek, with those bits of 2 / pi that determine the quadrant and 62 bits of the fraction.
#pragma once
#include "elementwise/exponential.metal"

constant uint two_over_pi[8] = {0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

// |x| = quadrant * pi / 2 + high + low
struct Angle {
  uint quadrant;
  float high, low;
};
// The index-th word of 2 / pi, behind the given number of bits.
inline uint word_of_two_over_pi(uint index, uint bits) {
  const ulong pair = ulong(two_over_pi[index]) << 32 | two_over_pi[index + 1];
  return uint(pair >> (32 - bits));
}
inline Angle angle_of(float x) {
  if (magnitude_bits(x) < 0x3f490fdau) return Angle{0, magnitude_of(x), 0.0f};  // pi / 4
  const Parts parts = parts_of(x);
  const uint place = uint(parts.exponent + 7), word = place >> 5, bit = place & 31;
  // 2 |x| / pi modulo 4, in units of 2^-62.
  const ulong mantissa = parts.mantissa;
  const ulong low =
      mantissa * word_of_two_over_pi(word + 1, bit) + (mantissa * word_of_two_over_pi(word + 2, bit) >> 32);
  const ulong turns = (ulong(parts.mantissa * word_of_two_over_pi(word, bit)) << 32) + low;
  const uint quadrant = uint((turns + (ulong(1) << 61)) >> 62);
  const ulong fraction = turns - (ulong(quadrant) << 62);
  const bool is_below = long(fraction) < 0;
  const ulong size = (is_below ? 0 - fraction : fraction) | 1;
  const int zeros = 63 - highest_bit(size);
  const uint digits = uint(size << zeros >> 32);
  const uint angle = uint(ulong(digits) * 0xc90fdaa2u >> 32);  // pi / 2 * 2^31
  const float unit = float_of_bits(uint(127 - 29 - zeros) << 23 | (is_below ? sign_mask : 0u));
  return Angle{quadrant, float(angle & 0xffffff00u) * unit, float(angle & 0xffu) * unit};
}
// Cephes' polynomials, for |angle| <= pi / 4.
inline float sine_of(Angle angle) {
  const float r = angle.high, z = r * r;
  float p = -1.9515295891e-4f * z + 8.3321608736e-3f;
  p = p * z - 1.6666654611e-1f;
  return r + (p * (z * r) + angle.low);
}
inline float cosine_of(Angle angle) {
  const float r = angle.high, z = r * r;
  float p = 2.443315711809948e-5f * z - 1.388731625493765e-3f;
  p = p * z + 4.166664568298827e-2f;
  return 1.0f - (0.5f * z - (p * (z * z) - r * angle.low));
}
inline float wave(Angle angle, uint quadrant, uint sign) {
  const float y = (quadrant & 1) != 0 ? cosine_of(angle) : sine_of(angle);
  return float_of_bits(bits_of(y) ^ (quadrant & 2) << 30 ^ sign);
}
inline float op_sin(float x) {
  if (magnitude_bits(x) >= infinity_bits) return not_a_number();
  if (magnitude_bits(x) < 0x39000000u) return x;  // 2^-13
  const Angle angle = angle_of(x);
  return wave(angle, angle.quadrant, sign_bit(x));
}
inline float op_cos(float x) {
  if (magnitude_bits(x) >= infinity_bits) return not_a_number();
  const Angle angle = angle_of(x);
  return wave(angle, angle.quadrant + 1, 0);
}
// The quotient of sine and cosine. Behind an odd number of quadrants it is that of -cosine and sine.
inline float op_tan(float x) {
  if (magnitude_bits(x) >= infinity_bits) return not_a_number();
  if (magnitude_bits(x) < 0x39000000u) return x;  // 2^-13
  const Angle angle = angle_of(x);
  const float sine = sine_of(angle), cosine = cosine_of(angle);
  const float y = (angle.quadrant & 1) != 0 ? negated(cosine) / sine : sine / cosine;
  return float_of_bits(bits_of(y) ^ sign_bit(x));
}

// e^a / 2. It may be finite where e^a is not.
inline float half_of_exponential(float a) {
  const Exponential e = exponential(a);
  return scaled(1.0f + e.fraction, e.n - 1);
}
// e^-a / 2 for the given e^a / 2. From a = 9 on it changes no sum with that by a quarter of a unit.
inline float half_of_inverse(float a, float exponential_half) { return a < 9.0f ? 0.25f / exponential_half : 0.0f; }

inline float op_cosh(float x) {
  if (is_nan(x)) return x;
  const float a = lesser_of(magnitude_of(x), 90.0f), growing = half_of_exponential(a);
  return growing + half_of_inverse(a, growing);
}
inline float op_sinh(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  const float a = lesser_of(magnitude_of(x), 90.0f);
  if (a >= 1.0f) {
    const float growing = half_of_exponential(a);
    return with_sign_of(growing - half_of_inverse(a, growing), x);
  }
  // (sinh x - x) / x^3 as a minimax polynomial in x^2, fitted by Remez' algorithm with mpmath: error 0.001 * 2^-24.
  const float z = a * a;
  float p = 2.81747071e-6f * z + 1.98360610e-4f;
  p = p * z + 8.33335062e-3f;
  p = p * z + 0.166666665f;
  return with_sign_of(a + p * (z * a), x);
}
inline float op_tanh(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x39000000u) return x;  // 2^-13
  const float a = lesser_of(magnitude_of(x), 10.0f);
  if (a >= 0.625f) return with_sign_of(1.0f - 2.0f / (value_of(exponential(2.0f * a)) + 1.0f), x);
  // Cephes' polynomial.
  const float z = a * a;
  float p = -5.70498872745e-3f * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  return with_sign_of(p * (z * a) + a, x);
}

// Inverse functions. The polynomials are minimax, fitted by Remez' algorithm with mpmath.

// (asin(s) - s) / s^3 for z = s^2 <= 1/4: error 0.09 * 2^-24.
inline float arc_sine_series(float z) {
  float p = 4.22785842e-2f * z + 2.41144494e-2f;
  p = p * z + 4.54833426e-2f;
  p = p * z + 7.49519605e-2f;
  return p * z + 0.166667550f;
}
// asin(sqrt(z)) * 2 as the sum of twice the root, correctly rounded, and the rest; z = (1 - a) / 2, which is exact for
// a >= 1/2, so that this is acos(a) (Cephes).
inline Pair arc_cosine_near_one(float a) {
  const float z = 0.5f * (1.0f - a), twice = 2.0f * sqrt(z);
  return Pair{twice, twice * (z * arc_sine_series(z))};
}
inline float op_asin(float x) {
  const float a = magnitude_of(x);
  if (magnitude_bits(x) > 0x3f800000u) return not_a_number();
  if (magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  if (a <= 0.5f) {
    const float z = a * a;
    return with_sign_of(arc_sine_series(z) * (z * a) + a, x);
  }
  const Pair rest = arc_cosine_near_one(a);
  return with_sign_of((1.57079637f - rest.high) + (-4.37113883e-8f - rest.low), x);  // pi / 2
}
inline float op_acos(float x) {
  const float a = magnitude_of(x);
  if (magnitude_bits(x) > 0x3f800000u) return not_a_number();
  if (a <= 0.5f) {
    const float z = x * x;
    return 1.57079637f - (x + (arc_sine_series(z) * (z * x) + 4.37113883e-8f));
  }
  const Pair rest = arc_cosine_near_one(a);
  return is_negative(x) ? 3.14159274f - (rest.high + (rest.low + 8.74227766e-8f)) : rest.high + rest.low;  // pi
}

// Multiples of pi / 4, in two floats.
constant float eighths_high[5] = {0.0f, 0.785398185f, 1.57079637f, 2.35619450f, 3.14159274f};
constant float eighths_low[5] = {0.0f, -2.18556941e-8f, -4.37113883e-8f, -5.96244032e-9f, -8.74227766e-8f};

// The angle of the point (x, y) or, with `is_left`, of (-x, y); x and y are finite, not negative, and not both zero.
// The angle is the sum of a multiple of pi / 4 and of the arc tangent of a quotient t, |t| <= 1/2: that of the lesser
// and the greater number, or of their difference and their sum.
inline float angle_of_point(float y, float x, bool is_left) {
  const float low = lesser_of(x, y), high = greater_of(x, y);
  const int exponent = parts_of(high).exponent;
  const float low_scaled = scaled(low, -exponent), high_scaled = scaled(high, -exponent);
  const bool is_diagonal = low_scaled > 0.5f * high_scaled, is_steep = ordered(y) > ordered(x);
  float t = is_diagonal ? (low_scaled - high_scaled) / (low_scaled + high_scaled) : op_divide(low, high);
  uint eighths = is_diagonal ? 1 : 0;
  if (is_steep) eighths = 2 - eighths;
  if (is_left) eighths = 4 - eighths;
  if (is_steep != is_left) t = negated(t);
  if (eighths == 0 && magnitude_bits(t) < 0x39800000u) return t;  // 2^-12
  // (atan(t) - t) / t^3: error 0.005 * 2^-24.
  const float z = t * t;
  float p = 3.86743814e-2f * z - 7.98076242e-2f;
  p = p * z + 0.109401600f;
  p = p * z - 0.142719865f;
  p = p * z + 0.199994847f;
  p = p * z - 0.333333254f;
  return eighths_high[eighths] + (t + (p * (z * t) + eighths_low[eighths]));
}
inline float op_atan(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  return with_sign_of(angle_of_point(lesser_of(magnitude_of(x), 1e9f), 1.0f, false), x);
}
inline float op_atan2(float y, float x) {
  if (is_nan(x) || is_nan(y)) return not_a_number();
  float above = magnitude_of(y), aside = magnitude_of(x);
  if (is_infinite(x) || is_infinite(y)) {
    above = is_infinite(y) ? 1.0f : 0.0f;
    aside = is_infinite(x) ? 1.0f : 0.0f;
  } else if (is_zero(x) && is_zero(y)) {
    aside = 1.0f;
  }
  return with_sign_of(angle_of_point(above, aside, is_negative(x)), y);
}

// Inverse hyperbolic functions: logarithms of 1 + u, where u loses no digits near zero.

// log(2 x). From x = 4096 on, asinh and acosh differ from it by less than a unit's hundredth.
inline float logarithm_of_double(float x) {
  const Logarithm l = logarithm(x);
  return logarithm_of(l.fraction, float(l.exponent + 1), 0.0f);
}
inline float op_acosh(float x) {
  if (is_nan(x) || ordered(x) < ordered(1.0f)) return not_a_number();
  if (is_infinite(x)) return x;
  if (x >= 4096.0f) return logarithm_of_double(x);
  const float t = x - 1.0f;
  return op_log1p(t + sqrt(t * (x + 1.0f)));
}
// sqrt(a^2 + 1) - 1 = a^2 / (1 + sqrt(a^2 + 1))
inline float op_asinh(float x) {
  if (magnitude_bits(x) >= infinity_bits || magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  const float a = magnitude_of(x);
  if (a >= 4096.0f) return with_sign_of(logarithm_of_double(a), x);
  const float square = a * a;
  return with_sign_of(op_log1p(a + square / (1.0f + sqrt(square + 1.0f))), x);
}
// log((1 + a) / (1 - a)) / 2, as log(1 + u) / 2, u = 2 a / (1 - a) = 2 a + 2 a^2 / (1 - a). For a >= 1/2, 1 - a is
// exact.
inline float op_atanh(float x) {
  const float a = magnitude_of(x);
  if (magnitude_bits(x) > 0x3f800000u) return not_a_number();
  if (magnitude_bits(x) < 0x39800000u) return x;  // 2^-12
  if (magnitude_bits(x) == 0x3f800000u) return with_sign_of(signed_infinity(0), x);
  const float twice = a + a, rest = 1.0f - a;
  const float u = a < 0.5f ? twice + twice * a / rest : twice / rest;
  return with_sign_of(0.5f * op_log1p(u), x);
}
