// Halves as bits. In integers: what the built-in conversions do to ties and subnormal numbers is the driver's choice.
float f32_of_f16(uint bits) {
  uint sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, digits = bits & 0x3ffu;
  if (exponent == 0u) return uintBitsToFloat(floatBitsToUint(float(digits) * 5.9604644775390625e-8) | sign);
  return uintBitsToFloat(sign | (exponent == 31u ? 0xffu : exponent + 112u) << 23 | digits << 13);
}

// The nearest, of two the even one.
uint f16_of_f32(float value) {
  uint bits = floatBitsToUint(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x47800000u) return sign | 0x7c00u;
  if (magnitude >= 0x38800000u) return sign | (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  if (magnitude < 0x33000000u) return sign;
  uint dropped = 126u - (magnitude >> 23), digits = (magnitude & 0x7fffffu) | 0x800000u;
  uint kept = digits >> dropped, rest = digits & ((1u << dropped) - 1u), tie = 1u << (dropped - 1u);
  return sign | (kept + (rest > tie || (rest == tie && (kept & 1u) == 1u) ? 1u : 0u));
}

float f32_of_bf16(uint bits) { return uintBitsToFloat(bits << 16); }

uint bf16_of_f32(float value) {
  uint bits = floatBitsToUint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return bits >> 16 | 0x40u;
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
