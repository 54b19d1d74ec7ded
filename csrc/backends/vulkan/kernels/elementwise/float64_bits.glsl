// float64 as bits, the counterpart of float_bits.glsl.

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

// The counterpart of Parts of float_bits.glsl: |x| = mantissa * 2^(exponent - 52).
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
// The exact double of an integer below 2^53.
double double_of_whole(uint64_t x) {
  double high = double(uint(x >> 32)), low = double(uint(x));
  precise double sum = high * 4294967296.0lf + low;
  return sum;
}
