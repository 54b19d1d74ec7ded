// Arithmetic. Integers wrap. Division follows Python: floor_divide and remainder round towards minus infinity, and an
// integer divided by zero is zero.
#pragma once
#include "elementwise/elements.metal"
#include "elementwise/rounding.metal"

template <typename T>
T op_add(T a, T b) {
  typedef typename Wrapping<T>::type Bits;
  return T(Bits(a) + Bits(b));
}
template <typename T>
T op_subtract(T a, T b) {
  typedef typename Wrapping<T>::type Bits;
  return T(Bits(a) - Bits(b));
}
template <typename T>
T op_multiply(T a, T b) {
  typedef typename Wrapping<T>::type Bits;
  return T(Bits(a) * Bits(b));
}
template <typename T>
T op_negative(T a) {
  return op_subtract(T(0), a);
}
template <typename T>
T op_abs(T a) {
  return a < T(0) ? op_negative(a) : a;
}
template <typename T>
T op_sign(T a) {
  return a > T(0) ? T(1) : a < T(0) ? T(-1) : T(0);
}

// The least number by -1 wraps; a device's own division need not.
template <typename T>
T op_floor_divide(T a, T b) {
  if (b == T(0)) return T(0);
  if (T(-1) < T(0) && b == T(-1)) return op_negative(a);
  const T quotient = T(a / b);
  const bool is_inexact = op_multiply(quotient, b) != a;
  return is_inexact && (a < T(0)) != (b < T(0)) ? T(quotient - T(1)) : quotient;
}
template <typename T>
T op_remainder(T a, T b) {
  return b == T(0) ? T(0) : op_subtract(a, op_multiply(op_floor_divide(a, b), b));
}

// From 2^-100 on, a subnormal number is too small to change a sum, and a sum of two numbers is zero or not subnormal.
inline float op_add(float a, float b) {
  const uint limit = 0x0d800000u;
  if (magnitude_bits(a) >= limit || magnitude_bits(b) >= limit) return a + b;
  return scaled(scaled(a, 64) + scaled(b, 64), -64);
}
inline float op_subtract(float a, float b) { return op_add(a, negated(b)); }

inline float op_multiply(float a, float b) {
  const float product = a * b;
  // A product above the least normal number, or infinity, has no factor that was flushed.
  if (magnitude_bits(product) - (least_normal_bits + 1) < infinity_bits - least_normal_bits) return product;
  if (is_zero(a) || is_zero(b) || is_nan(a) || is_nan(b)) return product;
  const uint sign = sign_bit(a) ^ sign_bit(b);
  if (is_infinite(a) || is_infinite(b)) return signed_infinity(sign);
  const Parts x = parts_of(a), y = parts_of(b), whole = leading_bits(ulong(x.mantissa) * y.mantissa);
  return rounded(sign, Parts{whole.mantissa, whole.exponent - 46 + x.exponent + y.exponent});
}

// Whether 2^-60 <= |x| < 2^60.
inline bool is_moderate(float x) { return magnitude_bits(x) - 0x21800000u < 0x3c000000u; }

// MSL rounds quotients correctly, but numbers, quotients or reciprocals that are subnormal may be flushed.
inline float op_divide(float a, float b) {
  if (is_moderate(a) && is_moderate(b)) return a / b;
  const uint sign = sign_bit(a) ^ sign_bit(b);
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (is_infinite(a)) return is_infinite(b) ? not_a_number() : signed_infinity(sign);
  if (is_zero(b)) return is_zero(a) ? not_a_number() : signed_infinity(sign);
  if (is_zero(a) || is_infinite(b)) return signed_zero(sign);
  const Parts x = parts_of(a), y = parts_of(b);
  uint quotient = x.mantissa / y.mantissa, rest = x.mantissa % y.mantissa;
  // 28 more bits of the quotient.
  for (int i = 0; i < 4; ++i) {
    rest <<= 7;
    quotient = quotient << 7 | rest / y.mantissa;
    rest %= y.mantissa;
  }
  const Parts whole = leading_bits(ulong(quotient << 1 | uint(rest != 0)));
  return rounded(sign, Parts{whole.mantissa, whole.exponent - 29 + x.exponent - y.exponent});
}
inline float op_reciprocal(float a) { return op_divide(1.0f, a); }

// T is an integer type or float.
template <typename T>
T op_square(T a) {
  return op_multiply(a, a);
}

inline float op_negative(float a) { return negated(a); }
inline float op_abs(float a) { return magnitude_of(a); }
inline float op_sign(float a) { return is_nan(a) || is_zero(a) ? magnitude_of(a) : with_sign_of(1.0f, a); }
inline float op_copysign(float a, float b) { return with_sign_of(magnitude_of(a), b); }

// The remainder of |a| / |b|, exactly; both are finite, and b is not zero.
inline float remainder_of_magnitudes(float a, float b) {
  if (magnitude_bits(a) < magnitude_bits(b)) return magnitude_of(a);
  const Parts x = parts_of(a), y = parts_of(b);
  uint rest = x.mantissa % y.mantissa;
  for (int left = x.exponent - y.exponent; left > 0; left -= 8) rest = (rest << min(left, 8)) % y.mantissa;
  return rest == 0 ? 0.0f : scaled(float(rest), y.exponent - 23);
}
// The result has the sign of a, as with C's fmod.
inline float op_fmod(float a, float b) {
  if (is_nan(a) || is_nan(b) || is_infinite(a) || is_zero(b)) return not_a_number();
  if (is_infinite(b) || is_zero(a)) return a;
  return with_sign_of(remainder_of_magnitudes(a, b), a);
}

// Follows NumPy: starts from the exact remainder, so that a quotient just below an integer is not rounded up to it.
inline float op_remainder(float a, float b) {
  if (is_zero(b)) return not_a_number();
  const float rest = op_fmod(a, b);
  if (is_nan(rest)) return rest;
  if (is_zero(rest)) return with_sign_of(0.0f, b);
  return is_negative(rest) != is_negative(b) ? op_add(rest, b) : rest;
}
inline float op_floor_divide(float a, float b) {
  // The result for infinities is floor(a / b), as the array API standard prefers.
  if (is_zero(b) || magnitude_bits(a) >= infinity_bits || magnitude_bits(b) >= infinity_bits) return op_divide(a, b);
  const float rest = op_fmod(a, b);
  float quotient = op_divide(op_subtract(a, rest), b);
  if (!is_zero(rest) && is_negative(rest) != is_negative(b)) quotient = quotient - 1.0f;
  if (is_zero(quotient)) return signed_zero(sign_bit(a) ^ sign_bit(b));
  const float whole = op_floor(quotient);
  return quotient - whole > 0.5f ? whole + 1.0f : whole;
}

// Scales the numbers so that the greater one is in [1, 2).
inline float op_hypot(float a, float b) {
  if (is_infinite(a) || is_infinite(b)) return signed_infinity(0);
  if (is_nan(a) || is_nan(b)) return not_a_number();
  const uint high = max(magnitude_bits(a), magnitude_bits(b)), low = min(magnitude_bits(a), magnitude_bits(b));
  if (is_zero(float_of_bits(low))) return float_of_bits(high);
  const int exponent = parts_of(float_of_bits(high)).exponent;
  const float x = scaled(float_of_bits(high), -exponent), y = scaled(float_of_bits(low), -exponent);
  return scaled(sqrt(x * x + y * y), exponent);
}

// nextafter: the number next to a towards b, of float32, float16 or bfloat16. The bits of numbers of one sign have the
// order of their magnitudes.
inline uint next_bits(uint bits, bool is_farther) { return is_farther ? bits + 1 : bits - 1; }
// Whether the next number is farther from zero; a is not zero.
inline bool grows(float a, float b) { return (ordered(a) < ordered(b)) != is_negative(a); }

inline float op_nextafter(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (ordered(a) == ordered(b)) return b;
  return float_of_bits(is_zero(a) ? sign_bit(b) | 1 : next_bits(bits_of(a), grows(a, b)));
}
inline float op_nextafter_f16(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (ordered(a) == ordered(b)) return b;
  return widened_f16(ushort(is_zero(a) ? sign_bit(b) >> 16 | 1 : next_bits(narrowed_f16(a), grows(a, b))));
}
inline float op_nextafter_bf16(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (ordered(a) == ordered(b)) return b;
  return widened_bf16(ushort(is_zero(a) ? sign_bit(b) >> 16 | 1 : next_bits(narrowed_bf16(a), grows(a, b))));
}

// frexp: splits numbers into mantissa and exponent.
inline float op_frexp_mantissa(float x) {
  if (is_zero(x) || magnitude_bits(x) >= infinity_bits) return x;
  return float_of_bits(sign_bit(x) | 0x3f000000u | (parts_of(x).mantissa & 0x007fffffu));
}
inline int op_frexp_exponent(float x) {
  return is_zero(x) || magnitude_bits(x) >= infinity_bits ? 0 : parts_of(x).exponent + 1;
}
