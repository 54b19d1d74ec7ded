// Square roots of float32. Vulkan does not round them correctly: an estimate is corrected by its exact remainder, in
// integers modulo 2^32.

float sqrt_f32(float a) {
  if (is_nan(a) || is_zero(a)) return a;
  if (sign_bit(a) != 0u) return not_a_number();
  if (is_infinite(a)) return a;
  Parts x = parts_of(a);
  // The root of mantissa * 2^25, 25 bits.
  uint mantissa = x.mantissa << (x.exponent & 1);
  uint root = uint(sqrt(float(mantissa)) * 5792.61875);
  int rest = int((mantissa << 25) - root * root);
  precise float correction = floor(float(rest) / float(2u * root));
  root += uint(int(correction));
  rest = int((mantissa << 25) - root * root);
  if (rest < 0) {
    --root;
    rest = int((mantissa << 25) - root * root);
  } else if (rest > int(2u * root)) {
    ++root;
    rest = int((mantissa << 25) - root * root);
  }
  return rounded(0u, root << 1 | uint(rest != 0), x.exponent >> 1);
}
float rsqrt_f32(float a) {
  if (is_nan(a)) return a;
  if (is_zero(a)) return signed_infinity(sign_bit(a));
  if (sign_bit(a) != 0u) return not_a_number();
  if (is_infinite(a)) return 0.0;
  Parts x = parts_of(a);
  float mantissa = float(x.mantissa << (x.exponent & 1));
  precise float root = inversesqrt(mantissa) * 2896.30937574;  // sqrt(2^23)
  return scaled(root, -(x.exponent >> 1));
}
