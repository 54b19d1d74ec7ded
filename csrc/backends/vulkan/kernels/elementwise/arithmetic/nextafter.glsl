// nextafter: the number next to a towards b. The bits of numbers of one sign have the order of their magnitudes.

uint next_bits(uint bits, bool is_farther) { return is_farther ? bits + 1u : bits - 1u; }
// Whether the next number is farther from zero; a is not zero.
bool grows(float a, float b) { return (ordered(a) < ordered(b)) == (sign_bit(a) == 0u); }

float nextafter_f32(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (ordered(a) == ordered(b)) return b;
  return uintBitsToFloat(is_zero(a) ? sign_bit(b) | 1u : next_bits(floatBitsToUint(a), grows(a, b)));
}
float nextafter_f16(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (ordered(a) == ordered(b)) return b;
  return widened_f16(is_zero(a) ? sign_bit(b) >> 16 | 1u : next_bits(narrowed_f16(a), grows(a, b)));
}
float nextafter_bf16(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (ordered(a) == ordered(b)) return b;
  return widened_bf16(is_zero(a) ? sign_bit(b) >> 16 | 1u : next_bits(narrowed_bf16(a), grows(a, b)));
}

#ifdef VARIANT_f64
double nextafter_f64(double a, double b) {
  if (is_nan(a) || is_nan(b)) return not_a_double();
  if (ordered(a) == ordered(b)) return b;
  if (is_zero(a)) return double_of_bits(sign_bit(b) | uint64_t(1));
  bool is_farther = (ordered(a) < ordered(b)) == (sign_bit(a) == uint64_t(0));
  return double_of_bits(is_farther ? bits_of(a) + uint64_t(1) : bits_of(a) - uint64_t(1));
}
#endif
