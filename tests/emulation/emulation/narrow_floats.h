// float16 and bfloat16 by their bits, for the shims cuda_fp16.h and cuda_bf16.h.
#pragma once

#include <bit>
#include <cstdint>

namespace emulation {

// The bits of the nearest float16; ties to even. IEEE 754-2019, 4.3.1.
constexpr std::uint16_t float16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));  // NaN
  if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);  // from 65520 on infinity
  if (magnitude < 0x33000000) return sign;                                        // below half of the least subnormal
  std::uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  // Bits that are dropped: 13, and more for subnormal results.
  const int dropped = exponent >= -14 ? 13 : 13 + (-14 - exponent);
  const std::uint32_t half = std::uint32_t{1} << (dropped - 1), rest = significand & ((half << 1) - 1);
  significand >>= dropped;
  if (rest > half || (rest == half && (significand & 1) != 0)) ++significand;
  // A carry goes into the exponent, as it should.
  const std::uint32_t biased = exponent >= -14 ? static_cast<std::uint32_t>(exponent + 15 - 1) << 10 : 0;
  return static_cast<std::uint16_t>(sign | (biased + significand));
}

constexpr float float_of_float16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16, exponent = bits >> 10 & 0x1f;
  std::uint32_t significand = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | significand << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | significand << 13);
  if (significand == 0) return std::bit_cast<float>(sign);
  std::uint32_t shifted = 113;
  while ((significand & 0x400) == 0) {
    significand <<= 1;
    --shifted;
  }
  return std::bit_cast<float>(sign | shifted << 23 | (significand & 0x3ff) << 13);
}

constexpr std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // NaN
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float float_of_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

}  // namespace emulation
