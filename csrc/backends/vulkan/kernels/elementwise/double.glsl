// float64: arithmetic, rounding and conversions. Elementary functions are not there yet.

uint64_t bits_of(double x) { return doubleBitsToUint64(x); }
const uint64_t SIGN_BIT_64 = uint64_t(1) << 63;
const uint64_t FRACTION_64 = (uint64_t(1) << 52) - uint64_t(1);
const uint64_t HIDDEN_64 = uint64_t(1) << 52;
const uint64_t INFINITY_64 = uint64_t(0x7ff) << 52;

uint64_t magnitude_bits(double x) { return bits_of(x) & ~SIGN_BIT_64; }
uint64_t sign_bit(double x) { return bits_of(x) & SIGN_BIT_64; }
bool is_nan(double x) { return magnitude_bits(x) > INFINITY_64; }
bool is_infinite(double x) { return magnitude_bits(x) == INFINITY_64; }
bool is_zero(double x) { return magnitude_bits(x) == uint64_t(0); }
bool is_below_zero(double x) { return sign_bit(x) != uint64_t(0) && !is_zero(x) && !is_nan(x); }
double double_of_bits(uint64_t bits) { return uint64BitsToDouble(bits); }
double not_a_double() { return double_of_bits(INFINITY_64 | uint64_t(1) << 51); }
double one_signed_as(double x) { return double_of_bits(sign_bit(x) | uint64_t(1023) << 52); }
int64_t ordered(double x) {
  int64_t magnitude = int64_t(magnitude_bits(x));
  return sign_bit(x) != uint64_t(0) ? -magnitude : magnitude;
}

// As Parts of float_bits.glsl: |x| = mantissa * 2^(exponent - 52).
struct WideParts {
  uint64_t mantissa;
  int exponent;
};
WideParts parts_of(double x) {
  uint64_t bits = magnitude_bits(x);
  if (bits >= HIDDEN_64) return WideParts((bits & FRACTION_64) | HIDDEN_64, int(bits >> 52) - 1023);
  int shift = 52 - highest_bit(bits);
  return WideParts(bits << shift, -1022 - shift);
}
// mantissa * 2^(exponent - 54), rounded once; 2^54 <= mantissa < 2^55.
double rounded(uint64_t sign, uint64_t mantissa, int exponent) {
  if (exponent > 1023) return double_of_bits(sign | INFINITY_64);
  int shift = clamp(-1020 - exponent, 2, 56);
  uint64_t base = uint64_t(max(exponent, -1022) + 1022) << 52;
  uint64_t kept = mantissa >> shift, rest = mantissa & ((uint64_t(1) << shift) - uint64_t(1));
  uint64_t tie = uint64_t(1) << (shift - 1);
  if (rest > tie || (rest == tie && (kept & uint64_t(1)) != uint64_t(0))) ++kept;
  return double_of_bits(sign | (exponent < -1022 ? kept : base + kept));
}
uint64_t whole_magnitude(double x) {
  uint64_t bits = magnitude_bits(x);
  int exponent = int(bits >> 52) - 1023;
  if (exponent < 0 || bits > INFINITY_64) return uint64_t(0);
  if (exponent >= 64) return ~uint64_t(0);
  uint64_t mantissa = (bits & FRACTION_64) | HIDDEN_64;
  return exponent >= 52 ? mantissa << (exponent - 52) : mantissa >> (52 - exponent);
}
// Exact: of an integer below 2^53.
double double_of_whole(uint64_t x) {
  double high = double(uint(x >> 32)), low = double(uint(x));
  precise double sum = high * 4294967296.0lf + low;
  return sum;
}

double add_f64(double a, double b) { precise double sum = a + b; return sum; }
double subtract_f64(double a, double b) { precise double difference = a - b; return difference; }
double multiply_f64(double a, double b) { precise double product = a * b; return product; }
double square_f64(double a) { return multiply_f64(a, a); }
double negative_f64(double a) { return double_of_bits(bits_of(a) ^ SIGN_BIT_64); }
double abs_f64(double a) { return double_of_bits(magnitude_bits(a)); }

// As divide_f32, modulo 2^64.
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

double sqrt_f64(double a) {
  if (is_nan(a) || is_zero(a)) return a;
  if (sign_bit(a) != uint64_t(0)) return not_a_double();
  if (is_infinite(a)) return a;
  WideParts x = parts_of(a);
  // The root of mantissa * 2^54, which has 54 bits.
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

double fmod_f64(double a, double b) {
  if (is_nan(a) || is_nan(b) || is_infinite(a)) return not_a_double();
  if (is_infinite(b) || is_zero(a) || magnitude_bits(a) < magnitude_bits(b)) return a;
  WideParts x = parts_of(a), y = parts_of(b);
  uint64_t rest = x.mantissa % y.mantissa;
  for (int left = x.exponent - y.exponent; left > 0; left -= 11) rest = (rest << min(left, 11)) % y.mantissa;
  if (rest == uint64_t(0)) return double_of_bits(sign_bit(a));
  int exponent = highest_bit(rest);
  return rounded(sign_bit(a), rest << (54 - exponent), y.exponent - 52 + exponent);
}

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
