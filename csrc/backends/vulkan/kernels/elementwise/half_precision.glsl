// float16 and bfloat16: stored as 16 bits, computed in float32, and rounded to nearest even. Conversions use integers,
// because drivers may choose how the built-in ones treat ties and subnormal numbers.
#ifndef HALVES  // a shader may include it twice
#define HALVES

float as_f16(float x) {
  uint bits = magnitude_bits(x);
  if (bits > INFINITY_BITS) return x;
  if (bits >= 0x477ff000u) return signed_infinity(sign_bit(x));  // 65520
  if (bits >= 0x38800000u) return uintBitsToFloat(sign_bit(x) | (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
  // Subnormal halves are multiples of 2^-24.
  uint shift = min(126u - (bits >> 23), 25u);
  uint count = shifted_to_even((bits & 0x007fffffu) | 0x00800000u, shift);
  precise float magnitude = float(count) * uintBitsToFloat(0x33800000u);
  return uintBitsToFloat(sign_bit(x) | floatBitsToUint(magnitude));
}
float as_bf16(float x) {
  uint bits = floatBitsToUint(x);
  return uintBitsToFloat(is_nan(x) ? bits | 0x00400000u : (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

float widened_f16(uint half_) {
  uint sign = (half_ & 0x8000u) << 16, exponent = half_ >> 10 & 0x1fu, mantissa = half_ & 0x3ffu;
  if (exponent == 31u) return uintBitsToFloat(sign | INFINITY_BITS | mantissa << 13);
  if (exponent != 0u) return uintBitsToFloat(sign | (exponent + 112u) << 23 | mantissa << 13);
  if (mantissa == 0u) return signed_zero(sign);
  uint shift = uint(10 - findMSB(mantissa));
  return uintBitsToFloat(sign | (113u - shift) << 23 | (mantissa << shift & 0x3ffu) << 13);
}
// Requires a float that is already rounded to float16.
uint narrowed_f16(float x) {
  uint sign = sign_bit(x) >> 16, bits = magnitude_bits(x);
  if (bits > INFINITY_BITS) return sign | 0x7e00u;
  if (bits == INFINITY_BITS) return sign | 0x7c00u;
  if (bits >= 0x38800000u) return sign | (bits - 0x38000000u) >> 13;
  uint shift = min(126u - (bits >> 23), 25u);
  return sign | ((bits & 0x007fffffu) | 0x00800000u) >> shift;
}

float widened_bf16(uint half_) { return uintBitsToFloat(half_ << 16); }
// Requires a float that is already rounded to bfloat16.
uint narrowed_bf16(float x) { return floatBitsToUint(x) >> 16; }
#endif
