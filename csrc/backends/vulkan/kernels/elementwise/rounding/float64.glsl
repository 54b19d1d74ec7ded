// Rounding of float64 to integers, by bits. Results that are zero keep their sign.

double trunc_f64(double x) {
  int exponent = int(magnitude_bits(x) >> 52) - 1023;
  if (exponent < 0) return double_of_bits(sign_bit(x));
  return exponent >= 52 ? x : double_of_bits(bits_of(x) & ~(FRACTION_64 >> exponent));
}
double floor_f64(double x) {
  double whole = trunc_f64(x);
  bool is_whole = bits_of(whole) == bits_of(x);
  return is_whole || sign_bit(x) == uint64_t(0) ? whole : subtract_f64(whole, 1.0lf);
}
double ceil_f64(double x) { return negative_f64(floor_f64(negative_f64(x))); }
double round_f64(double x) {
  uint64_t bits = magnitude_bits(x);
  int exponent = int(bits >> 52) - 1023;
  if (exponent >= 52) return x;
  if (exponent < 0) {
    bool is_one = bits > (uint64_t(1022) << 52);
    return double_of_bits(sign_bit(x) | (is_one ? uint64_t(1023) << 52 : uint64_t(0)));
  }
  uint64_t below = FRACTION_64 >> exponent;
  uint64_t odd = bits >> (52 - exponent) & uint64_t(1);
  return double_of_bits(sign_bit(x) | (bits + (below >> 1) + odd) & ~below);
}
