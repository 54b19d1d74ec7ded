// frexp: splits numbers into mantissa and exponent.

float frexp_mantissa_f32(float x) {
  if (is_zero(x) || magnitude_bits(x) >= INFINITY_BITS) return x;
  return uintBitsToFloat(sign_bit(x) | 0x3f000000u | (parts_of(x).mantissa & 0x007fffffu));
}
int frexp_exponent_f32(float x) {
  return is_zero(x) || magnitude_bits(x) >= INFINITY_BITS ? 0 : parts_of(x).exponent + 1;
}

#ifdef VARIANT_f64
double frexp_mantissa_f64(double x) {
  if (is_zero(x) || magnitude_bits(x) >= INFINITY_64) return x;
  return double_of_bits(sign_bit(x) | uint64_t(1022) << 52 | (parts_of(x).mantissa & FRACTION_64));
}
int frexp_exponent_f64(double x) {
  return is_zero(x) || magnitude_bits(x) >= INFINITY_64 ? 0 : parts_of(x).exponent + 1;
}
#endif
