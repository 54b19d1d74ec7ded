// astype: conversions from each computed type to each dtype, op_astype_<dtype>(x). Integers wrap. A float outside of an
// integer's range gives the nearest end of the range, and NaN gives 0. Conversions to floating point round once; those
// to dtypes narrower than float32 give a float that is rounded already. All of it is done by integers: MSL does not
// define what becomes of numbers that are out of range.
#pragma once
#include "elementwise/elements.metal"

// |x| rounded towards zero, at most 2^64 - 1; NaN gives 0.
inline ulong whole_magnitude(float x) {
  const uint bits = magnitude_bits(x);
  const int exponent = int(bits >> 23) - 127;
  if (exponent < 0 || bits > infinity_bits) return 0;
  if (exponent >= 64) return ~ulong(0);
  const ulong mantissa = (bits & 0x007fffffu) | 0x00800000u;
  return exponent >= 23 ? mantissa << (exponent - 23) : mantissa >> (23 - exponent);
}
template <typename To>
To saturated(float x) {
  const bool is_signed = To(-1) < To(0);
  const ulong greatest = (~ulong(0) >> (64 - 8 * sizeof(To))) >> (is_signed ? 1 : 0);
  const ulong magnitude = whole_magnitude(x);
  if (!is_negative(x)) return To(magnitude < greatest ? magnitude : greatest);
  return is_signed ? To(0 - (magnitude <= greatest ? magnitude : greatest + 1)) : To(0);
}

// Magnitudes and signs of integers, and integers as floats, rounded once.
template <typename T>
ulong integer_magnitude(T x) {
  return x < T(0) ? 0 - ulong(long(x)) : ulong(x);
}
template <typename T>
float float_of(T x) {
  const ulong magnitude = integer_magnitude(x);
  if (magnitude < 0x01000000u) return x < T(0) ? -float(uint(magnitude)) : float(uint(magnitude));
  return rounded(x < T(0) ? sign_mask : 0u, leading_bits(magnitude));
}
// For values that are then rounded to a half (elements.metal).
template <typename T>
float float_to_odd(T x) {
  const ulong magnitude = integer_magnitude(x);
  return magnitude == 0 ? 0.0f : rounded_to_odd(x < T(0) ? sign_mask : 0u, leading_bits(magnitude));
}

template <typename T>
bool op_astype_bool(T x) {
  return x != T(0);
}
template <typename T>
char op_astype_int8(T x) {
  return char(x);
}
template <typename T>
short op_astype_int16(T x) {
  return short(x);
}
template <typename T>
int op_astype_int32(T x) {
  return int(x);
}
template <typename T>
long op_astype_int64(T x) {
  return long(x);
}
template <typename T>
uchar op_astype_uint8(T x) {
  return uchar(x);
}
template <typename T>
ushort op_astype_uint16(T x) {
  return ushort(x);
}
template <typename T>
uint op_astype_uint32(T x) {
  return uint(x);
}
template <typename T>
ulong op_astype_uint64(T x) {
  return ulong(x);
}
template <typename T>
float op_astype_float32(T x) {
  return float_of(x);
}
template <typename T>
float op_astype_float16(T x) {
  return rounded_f16(float_to_odd(x));
}
template <typename T>
float op_astype_bfloat16(T x) {
  return rounded_bf16(float_to_odd(x));
}
template <typename T>
float op_astype_float8_e4m3fn(T x) {
  return rounded_f8_e4m3fn(float_to_odd(x));
}
template <typename T>
float op_astype_float8_e5m2(T x) {
  return rounded_f8_e5m2(float_to_odd(x));
}

inline float op_astype_float32(bool x) { return x ? 1.0f : 0.0f; }
inline float op_astype_float16(bool x) { return x ? 1.0f : 0.0f; }
inline float op_astype_bfloat16(bool x) { return x ? 1.0f : 0.0f; }
inline float op_astype_float8_e4m3fn(bool x) { return x ? 1.0f : 0.0f; }
inline float op_astype_float8_e5m2(bool x) { return x ? 1.0f : 0.0f; }

inline bool op_astype_bool(float x) { return !is_zero(x); }
inline char op_astype_int8(float x) { return saturated<char>(x); }
inline short op_astype_int16(float x) { return saturated<short>(x); }
inline int op_astype_int32(float x) { return saturated<int>(x); }
inline long op_astype_int64(float x) { return saturated<long>(x); }
inline uchar op_astype_uint8(float x) { return saturated<uchar>(x); }
inline ushort op_astype_uint16(float x) { return saturated<ushort>(x); }
inline uint op_astype_uint32(float x) { return saturated<uint>(x); }
inline ulong op_astype_uint64(float x) { return saturated<ulong>(x); }
inline float op_astype_float32(float x) { return x; }
inline float op_astype_float16(float x) { return rounded_f16(x); }
inline float op_astype_bfloat16(float x) { return rounded_bf16(x); }
inline float op_astype_float8_e4m3fn(float x) { return rounded_f8_e4m3fn(x); }
inline float op_astype_float8_e5m2(float x) { return rounded_f8_e5m2(x); }
