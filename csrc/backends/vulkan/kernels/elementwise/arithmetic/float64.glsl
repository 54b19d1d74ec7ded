// Arithmetic of float64.

double add_f64(double a, double b) { precise double sum = a + b; return sum; }
double subtract_f64(double a, double b) { precise double difference = a - b; return difference; }
double multiply_f64(double a, double b) { precise double product = a * b; return product; }
double square_f64(double a) { return multiply_f64(a, a); }
double negative_f64(double a) { return double_of_bits(bits_of(a) ^ SIGN_BIT_64); }
double abs_f64(double a) { return double_of_bits(magnitude_bits(a)); }
double copysign_f64(double a, double b) { return double_of_bits(magnitude_bits(a) | sign_bit(b)); }

// The algorithm of divide_f32, modulo 2^64.
double divide_f64(double a, double b) {
  uint64_t sign = sign_bit(a) ^ sign_bit(b);
  if (is_nan(a) || is_nan(b)) return not_a_double();
  if (is_infinite(a)) return is_infinite(b) ? not_a_double() : double_of_bits(sign | INFINITY_64);
  if (is_zero(b)) return is_zero(a) ? not_a_double() : double_of_bits(sign | INFINITY_64);
  if (is_zero(a) || is_infinite(b)) return double_of_bits(sign);
  WideParts x = parts_of(a), y = parts_of(b);
  int shift = x.mantissa >= y.mantissa ? 53 : 54;
  precise double divisor = double_of_whole(y.mantissa);
  precise double estimate = double_of_whole(x.mantissa) / divisor;
  uint64_t quotient = whole_magnitude(multiply_f64(estimate, double_of_bits(uint64_t(1023 + shift) << 52)));
  int64_t rest = int64_t((x.mantissa << shift) - quotient * y.mantissa);
  for (int i = 0; i < 8 && rest < int64_t(0); ++i) {
    --quotient;
    rest += int64_t(y.mantissa);
  }
  for (int i = 0; i < 8 && rest >= int64_t(y.mantissa); ++i) {
    ++quotient;
    rest -= int64_t(y.mantissa);
  }
  uint64_t mantissa = quotient << 1 | uint64_t(rest != int64_t(0) ? 1 : 0);
  return rounded(sign, mantissa, x.exponent - y.exponent + 53 - shift);
}
double reciprocal_f64(double a) { return divide_f64(1.0lf, a); }

double fmod_f64(double a, double b) {
  if (is_nan(a) || is_nan(b) || is_infinite(a) || is_zero(b)) return not_a_double();
  if (is_infinite(b) || is_zero(a) || magnitude_bits(a) < magnitude_bits(b)) return a;
  WideParts x = parts_of(a), y = parts_of(b);
  uint64_t rest = x.mantissa % y.mantissa;
  for (int left = x.exponent - y.exponent; left > 0; left -= 11) rest = (rest << min(left, 11)) % y.mantissa;
  if (rest == uint64_t(0)) return double_of_bits(sign_bit(a));
  int exponent = highest_bit(rest);
  return rounded(sign_bit(a), rest << (54 - exponent), y.exponent - 52 + exponent);
}
