// logaddexp of float32: the greater number and log(1 + e^-difference).

float logaddexp_f32(float a, float b) {
  if (is_nan(a) || is_nan(b)) return not_a_number();
  float high = maximum_f32(a, b), low = minimum_f32(a, b);
  if (is_infinite(high)) return high;
  // The logarithm is 0 then. The sum of -0 and 0 is 0, but Mesa removes an addition of 0.
  if (subtract_f32(low, high) < -104.5) return is_zero(high) ? signed_zero(0u) : high;
  Pair difference = exact_sum(low, -high);
  float power = value_of(exponential(difference.high, difference.low));
  return add_f32(high, log1p_f32(power));
}
