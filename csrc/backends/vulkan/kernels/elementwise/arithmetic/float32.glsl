// Arithmetic of float32. Vulkan rounds sums and products correctly, but not quotients: an estimated quotient is
// corrected by its exact remainder, in integers modulo 2^32.

float add_f32(float a, float b) { precise float sum = a + b; return sum; }
float subtract_f32(float a, float b) { precise float difference = a - b; return difference; }
float multiply_f32(float a, float b) { precise float product = a * b; return product; }
float square_f32(float a) { return multiply_f32(a, a); }
float negative_f32(float a) { return uintBitsToFloat(floatBitsToUint(a) ^ SIGN_BIT); }
float abs_f32(float a) { return uintBitsToFloat(magnitude_bits(a)); }
float copysign_f32(float a, float b) { return uintBitsToFloat(magnitude_bits(a) | sign_bit(b)); }

float divide_f32(float a, float b) {
  uint sign = sign_bit(a) ^ sign_bit(b);
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (is_infinite(a)) return is_infinite(b) ? not_a_number() : signed_infinity(sign);
  if (is_zero(b)) return is_zero(a) ? not_a_number() : signed_infinity(sign);
  if (is_zero(a) || is_infinite(b)) return signed_zero(sign);
  Parts x = parts_of(a), y = parts_of(b);
  // The quotient of the mantissas, 25 bits.
  int shift = x.mantissa >= y.mantissa ? 24 : 25;
  precise float inverse = 1.0 / float(y.mantissa);
  precise float estimate = float(x.mantissa) * inverse * (shift == 24 ? 16777216.0 : 33554432.0);
  uint quotient = uint(estimate);
  int rest = int((x.mantissa << shift) - quotient * y.mantissa);
  precise float correction = floor(float(rest) * inverse);
  quotient += uint(int(correction));
  rest -= int(correction) * int(y.mantissa);
  if (rest < 0) {
    --quotient;
    rest += int(y.mantissa);
  } else if (rest >= int(y.mantissa)) {
    ++quotient;
    rest -= int(y.mantissa);
  }
  return rounded(sign, quotient << 1 | uint(rest != 0), x.exponent - y.exponent + 24 - shift);
}
float reciprocal_f32(float a) { return divide_f32(1.0, a); }

// The remainder of |a| / |b|, exactly; both are finite, and b is not zero.
float remainder_of_magnitudes(float a, float b) {
  if (magnitude_bits(a) < magnitude_bits(b)) return abs_f32(a);
  Parts x = parts_of(a), y = parts_of(b);
  uint rest = x.mantissa % y.mantissa;
  for (int left = x.exponent - y.exponent; left > 0; left -= 8) rest = (rest << min(left, 8)) % y.mantissa;
  return rest == 0u ? 0.0 : scaled(float(rest), y.exponent - 23);
}
// The result has the sign of a, as with C's fmod.
float fmod_f32(float a, float b) {
  if (is_nan(a) || is_nan(b) || is_infinite(a) || is_zero(b)) return not_a_number();
  if (is_infinite(b) || is_zero(a)) return a;
  return uintBitsToFloat(floatBitsToUint(remainder_of_magnitudes(a, b)) | sign_bit(a));
}
