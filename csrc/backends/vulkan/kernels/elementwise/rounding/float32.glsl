// Rounding to integers, by bits. Results that are zero keep their sign.

float trunc_f32(float x) {
  int exponent = int(magnitude_bits(x) >> 23) - 127;
  if (exponent < 0) return signed_zero(sign_bit(x));
  return exponent >= 23 ? x : uintBitsToFloat(floatBitsToUint(x) & ~(0x007fffffu >> exponent));
}
float floor_f32(float x) {
  float whole = trunc_f32(x);
  bool is_whole = floatBitsToUint(whole) == floatBitsToUint(x);
  return is_whole || sign_bit(x) == 0u ? whole : subtract_f32(whole, 1.0);
}
float ceil_f32(float x) { return negative_f32(floor_f32(negative_f32(x))); }
// Rounds ties to even.
float round_f32(float x) {
  uint bits = magnitude_bits(x);
  int exponent = int(bits >> 23) - 127;
  if (exponent >= 23) return x;
  if (exponent < 0) return uintBitsToFloat(sign_bit(x) | (bits > 0x3f000000u ? 0x3f800000u : 0u));
  uint below = 0x007fffffu >> exponent;
  uint odd = bits >> (23 - exponent) & 1u;
  // For an exponent of 0, the integer's last bit is the hidden bit, which is 1; the exponent's last bit is 1, too.
  return uintBitsToFloat(sign_bit(x) | (bits + (below >> 1) + odd) & ~below);
}
