// exp and log of float32 within 2 ULP, and a quotient within one: the built-in ones may be off by more than 3.
// Subnormal results of exp are 0. The polynomials are least-squares fits of relative error, below 0.1 and 0.02 ULP.

// 2 to the power of an integer from -126 to 127.
float power_of_two(int exponent) { return uintBitsToFloat(uint(exponent + 127) << 23); }

// x = k ln(2) + r; then exp(x) = 2^k exp(r). The high part of ln(2) has 15 digits, so that k times it is exact.
float exp_f32(float x) {
  uint magnitude = floatBitsToUint(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return x;
  if (x < -87.33654) return 0.0;
  if (x > 88.72283) return uintBitsToFloat(0x7f800000u);
  precise float k = floor(x * 1.44269504 + 0.5);
  precise float r = (x - k * 0.693145752) - k * 1.42860677e-6;
  precise float p = 0.0013814596;
  p = p * r + 0.0083687175;
  p = p * r + 0.04166839;
  p = p * r + 0.16666521;
  p = p * r + 0.49999994;
  p = p * (r * r) + r + 1.0;
  // 2^128 is no float: in two factors.
  int exponent = int(k), first = exponent / 2;
  return p * power_of_two(first) * power_of_two(exponent - first);
}

// x = 2^k (1 + f) with f from sqrt(1/2) - 1 to sqrt(2) - 1; then log(x) = k ln(2) + log(1 + f). Subnormal x counts as
// 0.
float log_f32(float x) {
  uint bits = floatBitsToUint(x), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return x;
  if (magnitude < 0x00800000u) return uintBitsToFloat(0xff800000u);
  if (bits > 0x7f800000u) return uintBitsToFloat(0x7fc00000u);
  if (bits == 0x7f800000u) return x;
  uint shifted = bits - 0x3f3504f3u;  // from sqrt(1/2)
  precise float k = float(int(shifted) >> 23);
  precise float f = uintBitsToFloat((shifted & 0x7fffffu) + 0x3f3504f3u) - 1.0;
  precise float p = 0.067465514;
  p = p * f - 0.11675628;
  p = p * f + 0.1188819;
  p = p * f - 0.124055944;
  p = p * f + 0.1421955;
  p = p * f - 0.16667995;
  p = p * f + 0.20002119;
  p = p * f - 0.2500001;
  p = p * f + 0.33333313;
  precise float square = f * f;
  p = p * f * square + k * 1.42860677e-6;
  p = p - 0.5 * square;
  p = p + f;
  return p + k * 0.693145752;
}

// x / y, where neither it nor 1 / y overflows or vanishes.
float divided_f32(float x, float y) {
  precise float reciprocal = 1.0 / y;
  reciprocal = fma(fma(-y, reciprocal, 1.0), reciprocal, reciprocal);
  precise float quotient = x * reciprocal;
  return fma(fma(-y, quotient, x), reciprocal, quotient);
}
