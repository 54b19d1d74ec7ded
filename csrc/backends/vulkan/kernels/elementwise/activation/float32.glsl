// Activation functions of float32.

// v / (1 + e^-(x + rest)), which is v e^x / (1 + e^x) for negative x. The power of two is applied last, so that results
// that are not subnormal keep their digits.
float gated(float v, float x, float rest) {
  bool is_negative = x < 0.0;
  Exponential e = exponential(is_negative ? max(x, -180.0) : max(-x, -180.0), is_negative ? rest : -rest);
  precise float mantissa = 1.0 + e.fraction;
  precise float sum = 1.0 + scaled(mantissa, e.n);
  if (!is_negative) return divide_f32(v, sum);
  precise float product = v * mantissa;
  return scaled(divide_f32(product, sum), e.n);
}
float sigmoid_f32(float x) { return is_nan(x) ? x : gated(1.0, x, 0.0); }
float silu_f32(float x) {
  if (is_nan(x) || is_zero(x)) return x;
  if (is_infinite(x)) return sign_bit(x) != 0u ? negative_f32(0.0) : x;
  return gated(max(x, -180.0), x, 0.0);
}

// gelu of float32: x times the normal distribution function of x, as max(x, 0) - a M(a) e^(-a^2 / 2), where a = |x| and
// M is half of Mills' ratio. Nothing cancels in this form except what the definition itself cancels. The square is a
// pair of floats, because the exponential magnifies its rounding error.

// a x + b
Pair line_of(float a, float x, float b) {
  Pair product = exact_product(a, x), sum = exact_sum(product.high, b);
  precise float low = sum.low + product.low;
  return Pair(sum.high, low);
}
// M(a) on [0, 5]: the minimax quotient of csrc/backends/cpu/kernels/activation.cpp; the last steps are exact.
float half_of_mills_ratio(float a) {
  precise float inner_numerator = (0.0128010297 * a + 0.100632861) * a + 0.32722643;
  precise float inner_denominator = ((0.0321150608 * a + 0.251563698) * a + 0.860080242) * a + 1.45233572;
  Pair numerator = line_of(inner_numerator, a, 0.5), denominator = line_of(inner_denominator, a, 1.0);
  float quotient = divide_f32(numerator.high, denominator.high);
  precise float ratio = quotient + (numerator.low - quotient * denominator.low) / denominator.high;
  return ratio;
}
// a M(a) for a > 5, as a polynomial in 1 / a^2: chebyfit of mpmath, error 0.7 * 2^-24.
float tail_of_mills_ratio(float a) {
  precise float u = divide_f32(1.0, a * a);
  precise float p = -119.2506485 * u + 31.93579292;
  p = p * u - 5.763807774;
  p = p * u + 1.194180131;
  p = p * u - 0.3989267945;
  p = p * u + 0.3989422619;
  return p;
}
float gelu_f32(float x) {
  if (is_nan(x) || is_zero(x)) return x;
  if (is_infinite(x)) return sign_bit(x) != 0u ? negative_f32(0.0) : x;
  float a = min(abs_f32(x), 15.0);
  Pair square = exact_product(a, a);
  Exponential e = exponential(-0.5 * square.high, -0.5 * square.low);
  precise float mantissa = 1.0 + e.fraction;
  precise float factor = a > 5.0 ? tail_of_mills_ratio(a) : half_of_mills_ratio(a) * a;
  precise float product = factor * mantissa;
  float tail = scaled(product, e.n);
  return sign_bit(x) != 0u ? negative_f32(tail) : subtract_f32(x, tail);
}

// x (1 + tanh u) / 2 = x / (1 + e^-2u), 2 u = 2 sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks & Gimpel 2016).
float gelu_tanh_f32(float x) {
  if (is_nan(x) || is_zero(x)) return x;
  if (is_infinite(x)) return sign_bit(x) != 0u ? negative_f32(0.0) : x;
  float v = clamp(x, -12.0, 12.0);
  Pair cubic = product_of(exact_product(v, v), Pair(0.0713548139, 2.39883247e-9));
  Pair inner = sum_of(Pair(1.59576917, -4.53406805e-8), cubic);
  Pair u = product_of(inner, v);
  return gated(max(x, -12.0), u.high, u.low);
}
