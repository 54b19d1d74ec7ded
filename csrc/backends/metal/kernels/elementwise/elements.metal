// The types of elements, and float32 as bits. Included by all files of this folder.
//
// Elements of bool, int8 to int64, uint8 to uint64 and float32 are computed in bool, char to long, uchar to ulong and
// float. Elements of float16, bfloat16 and the float8 are computed in float, and rounded after each op.
//
// A GPU flushes subnormal floats to zero: Apple's do, and MSL allows it. Every function has the same result where that
// happens, because it treats operands and results that may be subnormal as integers.
#pragma once
#include "interface.metal"

// The unsigned type that sums and products of integers are computed in. They wrap in it.
template <typename T>
struct Wrapping {
  typedef uint type;
};
template <>
struct Wrapping<long> {
  typedef ulong type;
};
template <>
struct Wrapping<ulong> {
  typedef ulong type;
};

constant uint sign_mask = 0x80000000u;
constant uint infinity_bits = 0x7f800000u;
constant uint least_normal_bits = 0x00800000u;

inline uint bits_of(float x) { return as_type<uint>(x); }
inline float float_of_bits(uint bits) { return as_type<float>(bits); }
inline uint magnitude_bits(float x) { return bits_of(x) & 0x7fffffffu; }
inline uint sign_bit(float x) { return bits_of(x) & sign_mask; }
inline bool is_negative(float x) { return sign_bit(x) != 0; }  // also of -0
inline bool is_nan(float x) { return magnitude_bits(x) > infinity_bits; }
inline bool is_infinite(float x) { return magnitude_bits(x) == infinity_bits; }
// LLVM makes `magnitude_bits(x) == 0` a comparison of floats, in which a GPU may flush a subnormal x. It does not see
// through this: all bits but the last are zero, and the last one is, too.
inline bool is_zero(float x) { return magnitude_bits(x) >> 1 < 1 - (bits_of(x) & 1); }
inline bool is_below_zero(float x) { return is_negative(x) && !is_zero(x) && !is_nan(x); }
inline float not_a_number() { return float_of_bits(0x7fc00000u); }
inline float signed_infinity(uint sign) { return float_of_bits(sign | infinity_bits); }
inline float signed_zero(uint sign) { return float_of_bits(sign); }
inline float magnitude_of(float x) { return float_of_bits(magnitude_bits(x)); }
inline float with_sign_of(float x, float sign) { return float_of_bits(bits_of(x) | sign_bit(sign)); }
inline float negated(float x) { return float_of_bits(bits_of(x) ^ sign_mask); }

// An integer with the order of the numbers; both zeros give 0.
inline int ordered(float x) {
  const int magnitude = int(magnitude_bits(x));
  return is_negative(x) ? -magnitude : magnitude;
}
// The arguments are not NaN.
inline float lesser_of(float a, float b) { return ordered(a) < ordered(b) ? a : b; }
inline float greater_of(float a, float b) { return ordered(a) > ordered(b) ? a : b; }
inline float limited(float x, float low, float high) { return lesser_of(greater_of(x, low), high); }

inline int highest_bit(uint x) { return 31 - int(clz(x)); }
inline int highest_bit(ulong x) {
  const uint high = uint(x >> 32);
  return high != 0 ? 32 + highest_bit(high) : highest_bit(uint(x));
}

// |x| = mantissa * 2^(exponent - 23) with 24 bits of mantissa, also of subnormals; x is finite and not zero.
struct Parts {
  uint mantissa;
  int exponent;
};
inline Parts parts_of(float x) {
  const uint bits = magnitude_bits(x);
  if (bits >= least_normal_bits) return Parts{(bits & 0x007fffffu) | 0x00800000u, int(bits >> 23) - 127};
  const int shift = 23 - highest_bit(bits);
  return Parts{bits << shift, -126 - shift};
}

inline uint shifted_to_even(uint mantissa, uint shift) {
  const uint kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), tie = 1u << (shift - 1);
  return kept + uint(rest > tie || (rest == tie && (kept & 1) == 1));
}

// The number of bits, of 26, that a float of this exponent cannot hold.
inline uint dropped_bits(int exponent) { return uint(clamp(-124 - exponent, 2, 27)); }
inline float assembled(uint sign, uint kept, int exponent) {
  return float_of_bits(sign | (exponent < -126 ? kept : (uint(exponent + 126) << 23) + kept));
}
// mantissa * 2^(exponent - 25), rounded once; 2^25 <= mantissa < 2^26. The last bit of the mantissa is set if any later
// bit is.
inline float rounded(uint sign, Parts x) {
  if (x.exponent > 127) return signed_infinity(sign);
  return assembled(sign, shifted_to_even(x.mantissa, dropped_bits(x.exponent)), x.exponent);
}
// Like `rounded`, but sets the last bit if anything was lost, so that a second rounding, to a half, gives the same as
// rounding once.
inline float rounded_to_odd(uint sign, Parts x) {
  if (x.exponent > 127) return signed_infinity(sign);
  const uint shift = dropped_bits(x.exponent);
  const uint lost = uint((x.mantissa & ((1u << shift) - 1)) != 0);
  return assembled(sign, x.mantissa >> shift | lost, x.exponent);
}

// The first 26 bits of x, which is not zero, and its exponent. The last bit is set if any later bit is.
inline Parts leading_bits(ulong x) {
  const int exponent = highest_bit(x);
  if (exponent <= 25) return Parts{uint(x) << (25 - exponent), exponent};
  const int shift = exponent - 25;
  const ulong rest = x & ((ulong(1) << shift) - 1);
  return Parts{uint(x >> shift) | uint(rest != 0), exponent};
}

// x * 2^n, rounded once; x is finite.
inline float scaled(float x, int n) {
  // Nearly always, only the exponent changes.
  const int exponent = int(magnitude_bits(x) >> 23), moved = exponent + n;
  if (exponent > 0 && moved > 0 && moved < 255) return float_of_bits(bits_of(x) + (uint(n) << 23));
  if (is_zero(x)) return x;
  const Parts parts = parts_of(x);
  return rounded(sign_bit(x), Parts{parts.mantissa << 2, parts.exponent + n});
}

// float16 and bfloat16 are converted by bits: MSL has bfloat from 3.1 on, and its half may flush subnormals. They are
// rounded to nearest, ties to even.
inline float rounded_f16(float x) {
  const uint bits = magnitude_bits(x);
  if (bits > infinity_bits) return x;
  if (bits >= 0x477ff000u) return signed_infinity(sign_bit(x));  // 65520
  if (bits >= 0x38800000u) return float_of_bits(sign_bit(x) | ((bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu));
  // Subnormal halves are multiples of 2^-24.
  const uint shift = min(126u - (bits >> 23), 25u);
  const uint count = shifted_to_even((bits & 0x007fffffu) | 0x00800000u, shift);
  return with_sign_of(float(count) * 5.9604644775390625e-8f, x);
}
inline float rounded_bf16(float x) {
  const uint bits = bits_of(x);
  return float_of_bits(is_nan(x) ? bits | 0x00400000u : (bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u);
}

inline float widened_f16(ushort stored) {
  const uint half_bits = stored, sign = (half_bits & 0x8000u) << 16;
  const uint exponent = half_bits >> 10 & 0x1fu, mantissa = half_bits & 0x3ffu;
  if (exponent == 31) return float_of_bits(sign | infinity_bits | mantissa << 13);
  if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
  if (mantissa == 0) return signed_zero(sign);
  const uint shift = uint(10 - highest_bit(mantissa));
  return float_of_bits(sign | (113 - shift) << 23 | (mantissa << shift & 0x3ffu) << 13);
}
// Requires a float that is already rounded to float16.
inline ushort narrowed_f16(float x) {
  const uint sign = sign_bit(x) >> 16, bits = magnitude_bits(x);
  if (bits > infinity_bits) return ushort(sign | 0x7e00u);
  if (bits == infinity_bits) return ushort(sign | 0x7c00u);
  if (bits >= 0x38800000u) return ushort(sign | (bits - 0x38000000u) >> 13);
  const uint shift = min(126u - (bits >> 23), 25u);
  return ushort(sign | ((bits & 0x007fffffu) | 0x00800000u) >> shift);
}
inline float widened_bf16(ushort stored) { return float_of_bits(uint(stored) << 16); }
// Requires a float that is already rounded to bfloat16.
inline ushort narrowed_bf16(float x) { return ushort(bits_of(x) >> 16); }

// float8_e4m3fn has exponents from -6 to 8 and no infinity: what would be greater than 448 is NaN.
inline float rounded_f8_e4m3fn(float x) {
  const uint bits = magnitude_bits(x);
  if (bits > 0x43e80000u) return float_of_bits(sign_bit(x) | 0x7fc00000u);  // 464
  if (bits >= 0x3c800000u) return float_of_bits(sign_bit(x) | ((bits + 0x7ffffu + (bits >> 20 & 1)) & ~0xfffffu));
  // Subnormal numbers are multiples of 2^-9.
  const uint shift = min(141u - (bits >> 23), 25u);
  const uint count = shifted_to_even((bits & 0x007fffffu) | 0x00800000u, shift);
  return with_sign_of(float(count) * 0.001953125f, x);
}
inline float widened_f8_e4m3fn(uchar stored) {
  const uint sign = (stored & 0x80u) << 24, magnitude = stored & 0x7fu;
  if (magnitude == 0x7f) return float_of_bits(sign | 0x7fc00000u);
  if (magnitude >= 8) return float_of_bits(sign | ((magnitude << 20) + 0x3c000000u));
  return float_of_bits(sign | bits_of(float(magnitude) * 0.001953125f));
}
// Requires a float that is already rounded to float8_e4m3fn.
inline uchar narrowed_f8_e4m3fn(float x) {
  const uint sign = sign_bit(x) >> 24, bits = magnitude_bits(x);
  if (bits > infinity_bits) return uchar(sign | 0x7fu);
  if (bits >= 0x3c800000u) return uchar(sign | (bits - 0x3c000000u) >> 20);
  const uint shift = min(141u - (bits >> 23), 25u);
  return uchar(sign | ((bits & 0x007fffffu) | 0x00800000u) >> shift);
}
// float8_e5m2 is the upper byte of a float16.
inline float rounded_f8_e5m2(float x) {
  const uint bits = magnitude_bits(x);
  if (bits > infinity_bits) return x;
  if (bits >= 0x47700000u) return signed_infinity(sign_bit(x));  // 61440
  if (bits >= 0x38800000u) return float_of_bits(sign_bit(x) | ((bits + 0xfffffu + (bits >> 21 & 1)) & ~0x1fffffu));
  // Subnormal numbers are multiples of 2^-16.
  const uint shift = min(134u - (bits >> 23), 25u);
  const uint count = shifted_to_even((bits & 0x007fffffu) | 0x00800000u, shift);
  return with_sign_of(float(count) * 1.52587890625e-5f, x);
}
inline float widened_f8_e5m2(uchar stored) { return widened_f16(ushort(stored << 8)); }
// Requires a float that is already rounded to float8_e5m2.
inline uchar narrowed_f8_e5m2(float x) { return uchar(narrowed_f16(x) >> 8); }

// Elements in memory whose type differs from the one they are computed in.
inline bool load_bool(device const uchar* from, long at) { return from[at] != 0; }
inline float load_f16(device const ushort* from, long at) { return widened_f16(from[at]); }
inline float load_bf16(device const ushort* from, long at) { return widened_bf16(from[at]); }
inline float load_f8_e4m3fn(device const uchar* from, long at) { return widened_f8_e4m3fn(from[at]); }
inline float load_f8_e5m2(device const uchar* from, long at) { return widened_f8_e5m2(from[at]); }
inline void store_bool(device uchar* to, long at, bool x) { to[at] = x ? 1 : 0; }
inline void store_f16(device ushort* to, long at, float x) { to[at] = narrowed_f16(x); }
inline void store_bf16(device ushort* to, long at, float x) { to[at] = narrowed_bf16(x); }
inline void store_f8_e4m3fn(device uchar* to, long at, float x) { to[at] = narrowed_f8_e4m3fn(x); }
inline void store_f8_e5m2(device uchar* to, long at, float x) { to[at] = narrowed_f8_e5m2(x); }
