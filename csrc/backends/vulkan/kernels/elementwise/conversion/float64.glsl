// Conversions to and from float64, rounded once.

double double_of(uint64_t sign, uint64_t magnitude) {
  if (magnitude == uint64_t(0)) return double_of_bits(sign);
  int exponent = highest_bit(magnitude);
  if (exponent <= 54) return rounded(sign, magnitude << (54 - exponent), exponent);
  int shift = exponent - 54;
  uint64_t rest = magnitude & ((uint64_t(1) << shift) - uint64_t(1));
  return rounded(sign, magnitude >> shift | uint64_t(rest != uint64_t(0) ? 1 : 0), exponent);
}

double cast_bool_f64(bool x) { return x ? 1.0lf : 0.0lf; }
double cast_i64_f64(int64_t x) { return double_of(uint64_t(sign_of(x)) << 32, magnitude_of(x)); }
double cast_u64_f64(uint64_t x) { return double_of(uint64_t(0), x); }
double cast_i32_f64(int x) { return double_of(uint64_t(sign_of(x)) << 32, magnitude_of(x)); }
double cast_u32_f64(uint x) { return cast_u64_f64(uint64_t(x)); }
double cast_f32_f64(float x) {
  uint64_t sign = uint64_t(sign_bit(x)) << 32;
  if (is_nan(x)) return not_a_double();
  if (is_infinite(x)) return double_of_bits(sign | INFINITY_64);
  if (is_zero(x)) return double_of_bits(sign);
  Parts parts = parts_of(x);
  return rounded(sign, uint64_t(parts.mantissa) << 31, parts.exponent);
}
bool cast_f64_bool(double x) { return !is_zero(x); }
int64_t cast_f64_i64(double x) { return saturated_i64(sign_bit(x) != uint64_t(0), whole_magnitude(x)); }
uint64_t cast_f64_u64(double x) { return sign_bit(x) != uint64_t(0) ? uint64_t(0) : whole_magnitude(x); }
int cast_f64_i32(double x) { return saturated_i32(cast_f64_i64(x)); }
uint cast_f64_u32(double x) { return uint(min(cast_f64_u64(x), uint64_t(0xffffffffu))); }

float float_of_double(double x, bool to_odd) {
  uint sign = uint(sign_bit(x) >> 32);
  if (is_nan(x)) return not_a_number();
  if (is_infinite(x)) return signed_infinity(sign);
  if (is_zero(x)) return signed_zero(sign);
  WideParts parts = parts_of(x);
  uint lost = uint((parts.mantissa & ((uint64_t(1) << 27) - uint64_t(1))) != uint64_t(0));
  uint mantissa = uint(parts.mantissa >> 27) | lost;
  return to_odd ? rounded_to_odd(sign, mantissa, parts.exponent) : rounded(sign, mantissa, parts.exponent);
}
float cast_f64_f32(double x) { return float_of_double(x, false); }
float odd_f64_f32(double x) { return float_of_double(x, true); }
