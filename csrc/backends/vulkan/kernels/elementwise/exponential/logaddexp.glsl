// logaddexp of float32: the greater number and log(1 + e^-difference).

// e^x = 2^n (1 + fraction), with a fraction of about 44 bits, for |x| < 200: the terms of the series up to x^11 / 11!,
// the last ones as floats.
struct LongExponential {
  int n;
  Pair fraction;
};
LongExponential long_exponential(float x) {
  precise float n = x * 1.44269504;
  n = (n + 12582912.0) - 12582912.0;
  precise float whole = n * -0.693359375;
  Pair r = sum_of(exact_sum(x, whole), product_of(Pair(2.12194442e-4, -1.64659497e-12), n));
  precise float tail = 2.50521079e-8 * r.high + 2.755732e-7;
  tail = tail * r.high + 2.75573188e-6;
  tail = tail * r.high + 2.48015876e-5;
  tail = tail * r.high + 1.98412701e-4;
  Pair p = sum_of(Pair(1.38888892e-3, -3.36310944e-11), product_of(r, tail));
  p = sum_of(Pair(8.33333377e-3, -4.34617203e-10), product_of(p, r));
  p = sum_of(Pair(4.16666679e-2, -1.24176347e-9), product_of(p, r));
  p = sum_of(Pair(1.66666672e-1, -4.96705388e-9), product_of(p, r));
  p = sum_of(Pair(0.5, 0.0), product_of(p, r));
  return LongExponential(int(n), sum_of(r, product_of(p, product_of(r, r))));
}
Pair scaled(Pair x, int n) { return Pair(scaled(x.high, n), scaled(x.low, n)); }

// log(1 + (e^high - 1) + e^low), where high is between -0.7 and 0 and the sum is near 1.
float logaddexp_near_zero(float high, float low) {
  LongExponential a = long_exponential(high), b = long_exponential(low);
  Pair less_one = sum_of(Pair(subtract_f32(scaled(1.0, a.n), 1.0), 0.0), scaled(a.fraction, a.n));
  Pair power = sum_of(Pair(scaled(1.0, b.n), 0.0), scaled(b.fraction, b.n));
  Pair sum = sum_of(less_one, power);
  return add_f32(log1p_f32(sum.high), sum.low);
}

float logaddexp_f32(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  float high = maximum_f32(a, b), low = minimum_f32(a, b);
  if (is_infinite(high)) return high;
  // The logarithm is 0 then. The sum of -0 and 0 is 0, but Mesa removes an addition of 0.
  if (subtract_f32(low, high) < -104.5) return is_zero(high) ? signed_zero(0u) : high;
  Pair difference = exact_sum(low, -high);
  float power = value_of(exponential(difference.high, difference.low));
  float result = add_f32(high, log1p_f32(power));
  // The two cancel.
  return abs_f32(result) < 0.25 * abs_f32(high) ? logaddexp_near_zero(high, low) : result;
}
