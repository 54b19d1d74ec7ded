// Powers of float32: e^(y log x), where log x is a pair of floats.

// log(2^exponent (1 + f)) = exponent ln 2 + 2 s (1 + s^2 / 3 + s^4 / 5 + ...), s = f / (2 + f)
Pair logarithm_pair(Logarithm l) {
  float f = l.fraction;
  Pair below = exact_sum(2.0, f);
  precise float quotient = f / below.high;
  Pair back = exact_product(quotient, below.high);
  precise float rest = ((f - back.high) - back.low - quotient * below.low) / below.high;
  Pair s = fast_sum(quotient, rest);
  Pair square = product_of(s, s);
  precise float z = square.high;
  precise float p = 7.6923077e-2 * z + 9.0909091e-2;
  p = p * z + 1.1111111e-1;
  p = p * z + 1.4285714e-1;
  p = p * z + 0.2;
  p = p * z;
  Pair third = fast_sum(3.33333343e-1, p);
  precise float third_low = third.low - 9.9341077e-9;  // 1/3 in two floats
  Pair curvature = product_of(square, Pair(third.high, third_low));
  Pair twice = Pair(add_f32(s.high, s.high), add_f32(s.low, s.low));
  Pair fraction = sum_of(twice, product_of(twice, curvature));
  precise float n = float(l.exponent);
  precise float whole = n * 0.693359375;
  Pair ends = fast_sum(whole, n * -2.12194440e-4);
  precise float low = ends.low + n * 1.6465950e-12;
  return l.exponent == 0 ? fraction : sum_of(Pair(ends.high, low), fraction);
}

float pow_f32(float x, float y) {
  uint one = floatBitsToUint(1.0);
  if (is_zero(y) || floatBitsToUint(x) == one) return 1.0;
  if (is_nan(x) || is_nan(y)) return not_a_number();
  bool is_whole = floatBitsToUint(trunc_f32(y)) == floatBitsToUint(y);
  // Every float from 2^24 on is even.
  bool is_odd = is_whole && magnitude_bits(y) < 0x4b800000u && (whole_magnitude(y) & uint64_t(1)) != uint64_t(0);
  bool y_is_negative = sign_bit(y) != 0u;
  uint sign = is_odd ? sign_bit(x) : 0u;
  if (is_zero(x)) return y_is_negative ? signed_infinity(sign) : signed_zero(sign);
  if (is_infinite(x)) return y_is_negative ? signed_zero(sign) : signed_infinity(sign);
  if (is_infinite(y)) {
    if (magnitude_bits(x) == one) return 1.0;
    return (magnitude_bits(x) > one) != y_is_negative ? signed_infinity(0u) : 0.0;
  }
  if (sign_bit(x) != 0u && !is_whole) return not_a_number();
  if (magnitude_bits(x) == one) return uintBitsToFloat(one | sign);
  // Beyond 2^34, all powers overflow or become 0, except those of 1.
  Pair power = product_of(logarithm_pair(logarithm(abs_f32(x))), clamp(y, -17179869184.0, 17179869184.0));
  if (power.high > 89.0) return signed_infinity(sign);
  if (power.high < -104.5) return signed_zero(sign);
  return uintBitsToFloat(floatBitsToUint(value_of(exponential(power.high, power.low))) | sign);
}
