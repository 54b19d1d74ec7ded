// The tangent of float32.

// The quotient of sine and cosine. Behind an odd number of quadrants it is that of -cosine and sine.
float tan_f32(float x) {
  if (is_nan(x) || is_infinite(x)) return not_a_number();
  if (magnitude_bits(x) < 0x39000000u) return x;  // 2^-13
  Angle angle = angle_of(x);
  float sine = sine_of(angle), cosine = cosine_of(angle);
  bool is_odd = (angle.quadrant & 1u) != 0u;
  float y = divide_f32(is_odd ? negative_f32(cosine) : sine, is_odd ? sine : cosine);
  return uintBitsToFloat(floatBitsToUint(y) ^ sign_bit(x));
}
