// float32 as bits. Drivers may assume that there is no NaN, flush subnormals, divide and convert inexactly, and split
// an fma: operations that must be exact use integers.
#ifndef FLOAT_BITS  // a shader may include it twice
#define FLOAT_BITS

const uint SIGN_BIT = 0x80000000u;
const uint INFINITY_BITS = 0x7f800000u;
const uint NAN_BITS = 0x7fc00000u;

uint magnitude_bits(float x) { return floatBitsToUint(x) & 0x7fffffffu; }
uint sign_bit(float x) { return floatBitsToUint(x) & SIGN_BIT; }
bool is_nan(float x) { return magnitude_bits(x) > INFINITY_BITS; }
bool is_infinite(float x) { return magnitude_bits(x) == INFINITY_BITS; }
bool is_zero(float x) { return magnitude_bits(x) == 0u; }
bool is_below_zero(float x) { return floatBitsToInt(x) < 0 && !is_zero(x) && !is_nan(x); }
float not_a_number() { return uintBitsToFloat(NAN_BITS); }
float signed_infinity(uint sign) { return uintBitsToFloat(sign | INFINITY_BITS); }
float one_signed_as(float x) { return uintBitsToFloat(sign_bit(x) | 0x3f800000u); }
float signed_zero(uint sign) { return uintBitsToFloat(sign); }

// An integer with the order of the numbers; both zeros give 0.
int ordered(float x) {
  int magnitude = int(magnitude_bits(x));
  return floatBitsToInt(x) < 0 ? -magnitude : magnitude;
}

// |x| = mantissa * 2^(exponent - 23) with 24 bits of mantissa, also of subnormals; x is finite and not zero.
struct Parts {
  uint mantissa;
  int exponent;
};
Parts parts_of(float x) {
  uint bits = magnitude_bits(x);
  if (bits >= 0x00800000u) return Parts((bits & 0x007fffffu) | 0x00800000u, int(bits >> 23) - 127);
  int shift = 23 - findMSB(bits);
  return Parts(bits << shift, -126 - shift);
}

uint shifted_to_even(uint mantissa, uint shift) {
  uint kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1u), tie = 1u << (shift - 1u);
  return kept + uint(rest > tie || (rest == tie && (kept & 1u) == 1u));
}

// The number of bits, of 26, that a float of this exponent cannot hold.
uint dropped_bits(int exponent) { return uint(clamp(-124 - exponent, 2, 27)); }
float assembled(uint sign, uint kept, int exponent) {
  return uintBitsToFloat(sign | (exponent < -126 ? kept : (uint(exponent + 126) << 23) + kept));
}
// mantissa * 2^(exponent - 25), rounded once; 2^25 <= mantissa < 2^26. The last bit of the mantissa is set if any later
// bit is.
float rounded(uint sign, uint mantissa, int exponent) {
  if (exponent > 127) return signed_infinity(sign);
  return assembled(sign, shifted_to_even(mantissa, dropped_bits(exponent)), exponent);
}
// Like `rounded`, but sets the last bit if anything was lost, so that a second rounding, to a half, gives the same as
// rounding once.
float rounded_to_odd(uint sign, uint mantissa, int exponent) {
  if (exponent > 127) return signed_infinity(sign);
  uint shift = dropped_bits(exponent);
  uint lost = uint((mantissa & ((1u << shift) - 1u)) != 0u);
  return assembled(sign, mantissa >> shift | lost, exponent);
}

// x * 2^n, rounded once; x is finite.
float scaled(float x, int n) {
  // Nearly always, only the exponent changes.
  int exponent = int(magnitude_bits(x) >> 23), moved = exponent + n;
  if (exponent > 0 && moved > 0 && moved < 255) return uintBitsToFloat(floatBitsToUint(x) + (uint(n) << 23));
  if (is_zero(x)) return x;
  Parts parts = parts_of(x);
  return rounded(sign_bit(x), parts.mantissa << 2, parts.exponent + n);
}

int highest_bit(uint64_t x) {
  uint high = uint(x >> 32);
  return high != 0u ? 32 + findMSB(high) : findMSB(uint(x));
}

// The first 26 bits of x and its exponent. The last bit is set if any later bit is.
Parts leading_bits(uint64_t x) {
  int exponent = highest_bit(x);
  if (exponent <= 25) return Parts(uint(x) << (25 - exponent), exponent);
  int shift = exponent - 25;
  uint64_t rest = x & ((uint64_t(1) << shift) - uint64_t(1));
  return Parts(uint(x >> shift) | uint(rest != uint64_t(0)), exponent);
}
float float_of(uint sign, uint64_t magnitude) {
  if (magnitude == uint64_t(0)) return signed_zero(sign);
  Parts parts = leading_bits(magnitude);
  return rounded(sign, parts.mantissa, parts.exponent);
}
float float_to_odd(uint sign, uint64_t magnitude) {
  if (magnitude == uint64_t(0)) return signed_zero(sign);
  Parts parts = leading_bits(magnitude);
  return rounded_to_odd(sign, parts.mantissa, parts.exponent);
}

// |x| rounded towards zero, at most 2^64 - 1; NaN gives 0.
uint64_t whole_magnitude(float x) {
  uint bits = magnitude_bits(x);
  int exponent = int(bits >> 23) - 127;
  if (exponent < 0 || bits > INFINITY_BITS) return uint64_t(0);
  if (exponent >= 64) return ~uint64_t(0);
  uint64_t mantissa = uint64_t((bits & 0x007fffffu) | 0x00800000u);
  return exponent >= 23 ? mantissa << (exponent - 23) : mantissa >> (23 - exponent);
}

#endif
