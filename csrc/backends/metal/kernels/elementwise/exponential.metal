// Exponentials, logarithms, powers and roots. The reduction follows Cody & Waite, with constants of few bits, so that
// no fma is needed.
#pragma once
#include "elementwise/arithmetic.metal"
#include "elementwise/float_pairs.metal"
#include "elementwise/selection.metal"

// e^(x + rest) = 2^n (1 + fraction), for |x| < 200 and a rest that is small compared to 1.
struct Exponential {
  int n;
  float fraction;
};
inline Exponential exponential(float x, float rest) {
  float n = x * 1.44269504f;
  n = (n + 12582912.0f) - 12582912.0f;
  const float r = (x - n * 0.693359375f) + (n * 2.12194440e-4f + rest);
  // (e^r - 1 - r) / r^2, minimax on |r| <= ln(2) / 2.
  float p = 0.00138144779855f;
  p = p * r + 0.00836878046964f;
  p = p * r + 0.0416683939957f;
  p = p * r + 0.166665201074f;
  p = p * r + 0.499999934135f;
  return Exponential{int(n), p * (r * r) + r};
}
inline Exponential exponential(float x) { return exponential(x, 0.0f); }
inline float value_of(Exponential e) { return scaled(1.0f + e.fraction, e.n); }

inline float op_exp(float x) { return is_nan(x) ? x : value_of(exponential(limited(x, -104.5f, 89.0f))); }
inline float op_expm1(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x32800000u) return x;  // 2^-26
  const Exponential e = exponential(limited(x, -20.0f, 89.0f));
  // 2^n (fraction + (1 - 2^-n))
  return scaled(e.fraction + (1.0f - scaled(1.0f, -e.n)), e.n);
}
// 2^x = 2^n e^(r ln 2), n + r = x, |r| <= 1/2.
inline float op_exp2(float x) {
  if (is_nan(x)) return x;
  const float near = limited(x, -151.0f, 129.0f), n = op_round(near), r = near - n;
  const Exponential e = exponential(r * 0.693147182f, r * -1.90465421e-9f);
  return scaled(1.0f + e.fraction, e.n + int(n));
}

// x = 2^exponent (1 + fraction), sqrt(1/2) <= 1 + fraction < sqrt(2); x is positive and finite.
struct Logarithm {
  int exponent;
  float fraction;
};
inline Logarithm logarithm(float x) {
  const Parts parts = parts_of(x);
  const bool is_high = parts.mantissa >= 0x00b504f3u;
  const uint bits = (parts.mantissa & 0x007fffffu) | (is_high ? 0x3f000000u : 0x3f800000u);
  return Logarithm{parts.exponent + int(is_high), float_of_bits(bits) - 1.0f};
}
// log(2^exponent (1 + f)) + rest. The polynomial is Cephes'.
inline float logarithm_of(float f, float exponent, float rest) {
  const float square = f * f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  float y = p * (f * square) + rest;
  y = y - exponent * 2.12194440e-4f;
  y = y - 0.5f * square;
  return (f + y) + exponent * 0.693359375f;
}
inline bool is_positive_and_finite(float x) { return bits_of(x) - 1 < infinity_bits - 1; }
// The logarithm, to any base, of a number that is not positive and finite.
inline float special_logarithm(float x) {
  if (is_nan(x)) return x;
  if (is_zero(x)) return signed_infinity(sign_mask);
  return is_negative(x) ? not_a_number() : x;
}

inline float op_log(float x) {
  if (!is_positive_and_finite(x)) return special_logarithm(x);
  const Logarithm l = logarithm(x);
  return logarithm_of(l.fraction, float(l.exponent), 0.0f);
}
// log(1 + f) of the fraction times log2(e), or log10(e), plus the logarithm of the power of two.
inline float op_log2(float x) {
  if (!is_positive_and_finite(x)) return special_logarithm(x);
  const Logarithm l = logarithm(x);
  const float y = logarithm_of(l.fraction, 0.0f, 0.0f);
  return float(l.exponent) + (y * 0.442695041f + y);
}
// log10(2) has few bits in its first part, so that its product with the exponent is exact, as in Cephes.
inline float op_log10(float x) {
  if (!is_positive_and_finite(x)) return special_logarithm(x);
  const Logarithm l = logarithm(x);
  const float y = logarithm_of(l.fraction, 0.0f, 0.0f) * 0.434294482f, n = float(l.exponent);
  return n * 0.30078125f + (n * 2.48745664e-4f + y);
}
inline float op_log1p(float x) {
  if (is_nan(x) || magnitude_bits(x) < 0x32800000u) return x;  // 2^-26
  const int place = ordered(x);
  if (place < ordered(-1.0f)) return not_a_number();
  if (place == ordered(-1.0f)) return signed_infinity(sign_mask);
  if (is_infinite(x)) return x;
  if (place >= ordered(-0.29f) && place <= ordered(0.41f)) return logarithm_of(x, 0.0f, 0.0f);
  const float sum = 1.0f + x;
  const float lost = magnitude_bits(x) > 0x3f800000u ? 1.0f - (sum - x) : x - (sum - 1.0f);
  const Logarithm l = logarithm(sum);
  // From 2^60 on nothing of the quotient counts; a device may flush it.
  return logarithm_of(l.fraction, float(l.exponent), x < 1.15292150e18f ? lost / sum : 0.0f);
}

// e^x = 2^n (1 + fraction), with a fraction of about 44 bits, for |x| < 200: the terms of the series up to x^11 / 11!,
// the last ones as floats.
struct LongExponential {
  int n;
  Pair fraction;
};
inline LongExponential long_exponential(float x) {
  float n = x * 1.44269504f;
  n = (n + 12582912.0f) - 12582912.0f;
  const Pair r =
      sum_of(exact_sum(x, n * -0.693359375f), product_of(Pair{2.12194442e-4f, -1.64659497e-12f}, n));
  float tail = 2.50521079e-8f * r.high + 2.755732e-7f;
  tail = tail * r.high + 2.75573188e-6f;
  tail = tail * r.high + 2.48015876e-5f;
  tail = tail * r.high + 1.98412701e-4f;
  Pair p = sum_of(Pair{1.38888892e-3f, -3.36310944e-11f}, product_of(r, tail));
  p = sum_of(Pair{8.33333377e-3f, -4.34617203e-10f}, product_of(p, r));
  p = sum_of(Pair{4.16666679e-2f, -1.24176347e-9f}, product_of(p, r));
  p = sum_of(Pair{1.66666672e-1f, -4.96705388e-9f}, product_of(p, r));
  p = sum_of(Pair{0.5f, 0.0f}, product_of(p, r));
  return LongExponential{int(n), sum_of(r, product_of(p, product_of(r, r)))};
}
inline Pair scaled(Pair x, int n) { return Pair{scaled(x.high, n), scaled(x.low, n)}; }

// log(1 + (e^high - 1) + e^low), where high is between -0.7 and 0 and the sum is near 1.
inline float logaddexp_near_zero(float high, float low) {
  const LongExponential a = long_exponential(high), b = long_exponential(low);
  const Pair less_one = sum_of(Pair{scaled(1.0f, a.n) - 1.0f, 0.0f}, scaled(a.fraction, a.n));
  const Pair power = sum_of(Pair{scaled(1.0f, b.n), 0.0f}, scaled(b.fraction, b.n));
  const Pair sum = sum_of(less_one, power);
  return op_log1p(sum.high) + sum.low;
}

// The greater number and log(1 + e^-difference).
inline float op_logaddexp(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  const float high = greater_of(a, b), low = lesser_of(a, b);
  if (is_infinite(high)) return high;
  // The logarithm is 0 then. The sum of -0 and 0 is 0.
  if (low - high < -104.5f) return is_zero(high) ? 0.0f : high;
  const Pair difference = exact_sum(low, -high);
  const float result = op_add(high, op_log1p(value_of(exponential(difference.high, difference.low))));
  // The two cancel.
  return magnitude_of(result) < 0.25f * magnitude_of(high) ? logaddexp_near_zero(high, low) : result;
}

// MSL rounds square roots correctly. Subnormal numbers are scaled by 2^64.
inline float op_sqrt(float a) {
  if (is_nan(a) || is_zero(a)) return a;
  if (is_negative(a)) return not_a_number();
  return magnitude_bits(a) < least_normal_bits ? sqrt(scaled(a, 64)) * 2.3283064365386963e-10f : sqrt(a);
}
inline float op_rsqrt(float a) {
  if (is_zero(a)) return signed_infinity(sign_bit(a));
  if (is_nan(a) || is_negative(a)) return not_a_number();
  if (is_infinite(a)) return 0.0f;
  return magnitude_bits(a) < least_normal_bits ? 4294967296.0f / sqrt(scaled(a, 64)) : 1.0f / sqrt(a);
}

// Powers of integers by squaring, modulo 2^width. A negative exponent is an error of the execution, whose message names
// the dtype.
template <typename T>
T op_pow(T base, T exponent, device Fault* fault, uint dtype) {
  typedef typename Wrapping<T>::type Bits;
  if (exponent < T(0)) {
    report_fault(fault, fault_power, dtype, 0, 0, 0);
    return T(0);
  }
  Bits result = 1, factor = Bits(base);
  for (Bits left = Bits(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= factor;
    factor *= factor;
  }
  return T(result);
}

// log(2^exponent (1 + f)) = exponent ln 2 + 2 s (1 + s^2 / 3 + s^4 / 5 + ...), s = f / (2 + f)
inline Pair logarithm_pair(Logarithm l) {
  const float f = l.fraction;
  const Pair below = exact_sum(2.0f, f);
  const float quotient = f / below.high;
  const Pair back = exact_product(quotient, below.high);
  const Pair s = fast_sum(quotient, ((f - back.high) - back.low - quotient * below.low) / below.high);
  const Pair square = product_of(s, s);
  const float z = square.high;
  float p = 7.6923077e-2f * z + 9.0909091e-2f;
  p = p * z + 1.1111111e-1f;
  p = p * z + 1.4285714e-1f;
  p = p * z + 0.2f;
  const Pair third = fast_sum(3.33333343e-1f, p * z);
  const Pair curvature = product_of(square, Pair{third.high, third.low - 9.9341077e-9f});  // 1/3 in two floats
  const Pair twice = Pair{s.high + s.high, s.low + s.low};
  const Pair fraction = sum_of(twice, product_of(twice, curvature));
  if (l.exponent == 0) return fraction;
  const float n = float(l.exponent);
  const Pair ends = fast_sum(n * 0.693359375f, n * -2.12194440e-4f);
  return sum_of(Pair{ends.high, ends.low + n * 1.6465950e-12f}, fraction);
}
// Powers of floats: e^(y log x), where log x is a pair of floats.
inline float op_pow(float x, float y) {
  const uint one = 0x3f800000u;
  if (is_zero(y) || bits_of(x) == one) return 1.0f;
  if (is_nan(x) || is_nan(y)) return not_a_number();
  const float whole = op_trunc(y);
  const bool is_whole = bits_of(whole) == bits_of(y);
  // Every float from 2^24 on is even.
  const bool is_odd = is_whole && magnitude_bits(y) < 0x4b800000u && (int(whole) & 1) != 0;
  const bool is_inverse = is_negative(y);
  const uint sign = is_odd ? sign_bit(x) : 0u;
  if (is_zero(x)) return is_inverse ? signed_infinity(sign) : signed_zero(sign);
  if (is_infinite(x)) return is_inverse ? signed_zero(sign) : signed_infinity(sign);
  if (is_infinite(y)) {
    if (magnitude_bits(x) == one) return 1.0f;
    return (magnitude_bits(x) > one) != is_inverse ? signed_infinity(0) : 0.0f;
  }
  if (is_negative(x) && !is_whole) return not_a_number();
  if (magnitude_bits(x) == one) return float_of_bits(one | sign);
  // Beyond 2^34, all powers overflow or become 0, except those of 1.
  const Pair power =
      product_of(logarithm_pair(logarithm(magnitude_of(x))), limited(y, -17179869184.0f, 17179869184.0f));
  if (power.high > 89.0f) return signed_infinity(sign);
  if (power.high < -104.5f) return signed_zero(sign);
  return float_of_bits(bits_of(value_of(exponential(power.high, power.low))) | sign);
}
