// Rounding to integers, of floats by their bits. Results that are zero keep their sign.
#pragma once
#include "elementwise/elements.metal"

template <typename T>
T op_floor(T a) {
  return a;
}
template <typename T>
T op_ceil(T a) {
  return a;
}
template <typename T>
T op_trunc(T a) {
  return a;
}
template <typename T>
T op_round(T a) {
  return a;
}

inline float op_trunc(float x) {
  const int exponent = int(magnitude_bits(x) >> 23) - 127;
  if (exponent < 0) return signed_zero(sign_bit(x));
  return exponent >= 23 ? x : float_of_bits(bits_of(x) & ~(0x007fffffu >> exponent));
}
inline float op_floor(float x) {
  const float whole = op_trunc(x);
  return bits_of(whole) == bits_of(x) || !is_negative(x) ? whole : whole - 1.0f;
}
inline float op_ceil(float x) { return negated(op_floor(negated(x))); }
// Rounds ties to even.
inline float op_round(float x) {
  const uint bits = magnitude_bits(x);
  const int exponent = int(bits >> 23) - 127;
  if (exponent >= 23) return x;
  if (exponent < 0) return float_of_bits(sign_bit(x) | (bits > 0x3f000000u ? 0x3f800000u : 0u));
  const uint below = 0x007fffffu >> exponent;
  const uint odd = bits >> (23 - exponent) & 1;
  // For an exponent of 0, the integer's last bit is the hidden bit, which is 1; the exponent's last bit is 1, too.
  return float_of_bits(sign_bit(x) | ((bits + (below >> 1) + odd) & ~below));
}
