// hypot of float32: the root of the sum of squares, of numbers that are scaled so that the greater one is in [1, 2).

float hypot_f32(float a, float b) {
  if (is_infinite(a) || is_infinite(b)) return signed_infinity(0u);
  if (is_nan(a) || is_nan(b)) return not_a_number();
  uint high = max(magnitude_bits(a), magnitude_bits(b)), low = min(magnitude_bits(a), magnitude_bits(b));
  if (low == 0u) return uintBitsToFloat(high);
  int exponent = parts_of(uintBitsToFloat(high)).exponent;
  float x = scaled(uintBitsToFloat(high), -exponent), y = scaled(uintBitsToFloat(low), -exponent);
  precise float sum = x * x + y * y;
  return scaled(sqrt_f32(sum), exponent);
}
