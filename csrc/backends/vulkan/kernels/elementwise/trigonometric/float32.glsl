// Trigonometric and hyperbolic functions of float32. The angle of sine and cosine is reduced in integers, after Payne &
// Hanek: only those bits of 2 / pi are used that determine the quadrant and 62 bits of the fraction.

const uint two_over_pi[8] = uint[](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
                                   0xfe5163abu);

// |x| = quadrant * pi / 2 + high + low
struct Angle {
  uint quadrant;
  float high, low;
};
Angle angle_of(float x) {
  if (magnitude_bits(x) < 0x3f490fdau) return Angle(0u, abs_f32(x), 0.0);  // pi / 4
  Parts parts = parts_of(x);
  uint place = uint(parts.exponent + 7), word = place >> 5, bit = place & 31u;
  uint window[3];
  for (uint i = 0u; i < 3u; ++i) {
    uint64_t pair = uint64_t(two_over_pi[word + i]) << 32 | uint64_t(two_over_pi[word + i + 1u]);
    window[i] = uint(pair >> (32u - bit));
  }
  // 2 |x| / pi modulo 4, in units of 2^-62.
  uint64_t mantissa = uint64_t(parts.mantissa);
  uint64_t low = mantissa * uint64_t(window[1]) + (mantissa * uint64_t(window[2]) >> 32);
  uint64_t turns = (uint64_t(parts.mantissa * window[0]) << 32) + low;
  uint quadrant = uint((turns + (uint64_t(1) << 61)) >> 62);
  int64_t fraction = int64_t(turns - (uint64_t(quadrant) << 62));
  uint64_t size = uint64_t(fraction < 0 ? -fraction : fraction) | uint64_t(1);
  int zeros = 63 - highest_bit(size);
  uint digits = uint(size << zeros >> 32);
  uint angle = uint(uint64_t(digits) * uint64_t(0xc90fdaa2u) >> 32);  // pi / 2 * 2^31
  float unit = uintBitsToFloat(uint(127 - 29 - zeros) << 23 | (fraction < 0 ? SIGN_BIT : 0u));
  return Angle(quadrant, multiply_f32(float(angle & 0xffffff00u), unit), multiply_f32(float(angle & 0xffu), unit));
}
// Cephes' polynomials, for |angle| <= pi / 4.
float sine_of(Angle angle) {
  float r = angle.high;
  precise float z = r * r;
  precise float p = -1.9515295891e-4 * z + 8.3321608736e-3;
  p = p * z - 1.6666654611e-1;
  precise float y = r + (p * (z * r) + angle.low);
  return y;
}
float cosine_of(Angle angle) {
  float r = angle.high;
  precise float z = r * r;
  precise float p = 2.443315711809948e-5 * z - 1.388731625493765e-3;
  p = p * z + 4.166664568298827e-2;
  precise float y = 1.0 - (0.5 * z - (p * (z * z) - r * angle.low));
  return y;
}
float wave(Angle angle, uint quadrant, uint sign) {
  float y = (quadrant & 1u) != 0u ? cosine_of(angle) : sine_of(angle);
  return uintBitsToFloat(floatBitsToUint(y) ^ (quadrant & 2u) << 30 ^ sign);
}
float sin_f32(float x) {
  if (is_nan(x) || is_infinite(x)) return not_a_number();
  if (magnitude_bits(x) < 0x39000000u) return x;  // 2^-13
  Angle angle = angle_of(x);
  return wave(angle, angle.quadrant, sign_bit(x));
}
float cos_f32(float x) {
  if (is_nan(x) || is_infinite(x)) return not_a_number();
  Angle angle = angle_of(x);
  return wave(angle, angle.quadrant + 1u, 0u);
}

float tanh_f32(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x39000000u) return x;  // 2^-13
  float a = min(abs_f32(x), 10.0);
  precise float y;
  if (a < 0.625) {
    // Cephes' polynomial.
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
