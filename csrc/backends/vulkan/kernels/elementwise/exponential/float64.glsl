// Square roots of float64. Exponentials and logarithms are not implemented.

double sqrt_f64(double a) {
  if (is_nan(a) || is_zero(a)) return a;
  if (sign_bit(a) != uint64_t(0)) return not_a_double();
  if (is_infinite(a)) return a;
  WideParts x = parts_of(a);
  // The root of mantissa * 2^54, 54 bits.
  uint64_t mantissa = x.mantissa << (x.exponent & 1);
  precise double estimate = sqrt(double_of_whole(mantissa)) * 134217728.0lf;
  uint64_t root = whole_magnitude(estimate);
  int64_t rest = int64_t((mantissa << 54) - root * root);
  for (int i = 0; i < 8 && rest < int64_t(0); ++i) {
    --root;
    rest += int64_t(uint64_t(2) * root + uint64_t(1));
  }
  for (int i = 0; i < 8 && rest > int64_t(uint64_t(2) * root); ++i) {
    rest -= int64_t(uint64_t(2) * root + uint64_t(1));
    ++root;
  }
  return rounded(uint64_t(0), root << 1 | uint64_t(rest != int64_t(0) ? 1 : 0), x.exponent >> 1);
}
double rsqrt_f64(double a) { return divide_f64(1.0lf, sqrt_f64(a)); }
