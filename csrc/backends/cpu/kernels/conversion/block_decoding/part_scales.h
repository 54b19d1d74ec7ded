// The scales and minima of parts of blocks: integers that are multiplied by the block's, or floating-point numbers of
// one byte.
#pragma once

#include "../../quantized_blocks.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The scale of a block, and the unit in which the integers of its parts are given. All products of the two with an
// integer and a number are exact in float32.
template <DType dtype>
HWY_INLINE Float16 scale_of(const Block<dtype>& block) {
  return block.scale;
}
HWY_INLINE Float16 scale_of(const Block<DType::iq1_m>& block) {
  const uint16_t* parts = block.parts;
  return {static_cast<uint16_t>(parts[0] >> 12 | (parts[1] >> 12) << 4 | (parts[2] >> 12) << 8 | (parts[3] & 0xf000))};
}
template <DType dtype>
constexpr float scale_unit = 1;
template <>
constexpr float scale_unit<DType::iq1_s> = 0.125f;
template <>
constexpr float scale_unit<DType::iq1_m> = 0.125f;
template <>
constexpr float scale_unit<DType::iq2_xxs> = 0.125f;
template <>
constexpr float scale_unit<DType::iq2_xs> = 0.125f;
template <>
constexpr float scale_unit<DType::iq2_s> = 0.125f;
template <>
constexpr float scale_unit<DType::iq3_xxs> = 0.25f;

// Scale or minimum `k` of eight with 6 bits. The values of the first four parts are in one byte each, the others in
// two.
constexpr int scale_of_6_bits(const uint8_t* parts, int64_t k) {
  return k < 4 ? parts[k] & 63 : (parts[k + 4] & 15) | (parts[k - 4] >> 2 & 48);
}
constexpr int least_of_6_bits(const uint8_t* parts, int64_t k) {
  return k < 4 ? parts[k + 4] & 63 : parts[k + 4] >> 4 | (parts[k] >> 2 & 48);
}

// ---- Parts of 16 elements
HWY_INLINE int part_scale(const Block<DType::q2_K>& block, int64_t k) { return block.parts[k] & 15; }
HWY_INLINE int part_least(const Block<DType::q2_K>& block, int64_t k) { return block.parts[k] >> 4; }
HWY_INLINE int part_scale(const Block<DType::q3_K>& block, int64_t k) {
  const int low = block.parts[k % 8] >> (k < 8 ? 0 : 4) & 15, high = block.parts[8 + k % 4] >> k / 4 * 2 & 3;
  return (low | high << 4) - 32;
}
HWY_INLINE int part_scale(const Block<DType::q6_K>& block, int64_t k) { return block.parts[k]; }

// ---- Parts of 32 elements
HWY_INLINE int part_scale(const Block<DType::q4_K>& block, int64_t k) { return scale_of_6_bits(block.parts, k); }
HWY_INLINE int part_least(const Block<DType::q4_K>& block, int64_t k) { return least_of_6_bits(block.parts, k); }
HWY_INLINE int part_scale(const Block<DType::q5_K>& block, int64_t k) { return scale_of_6_bits(block.parts, k); }
HWY_INLINE int part_least(const Block<DType::q5_K>& block, int64_t k) { return least_of_6_bits(block.parts, k); }
HWY_INLINE int part_scale(const Block<DType::iq4_xs>& block, int64_t k) {
  const int low = block.low[k / 2] >> (k % 2 == 0 ? 0 : 4) & 15, high = block.high >> 2 * k & 3;
  return (low | high << 4) - 32;
}

// Half of the power of two that an exponent of mxfp4 stands for: the table of its numbers is doubled.
HWY_INLINE float half_power(uint8_t exponent) {
  return from_bits(exponent < 2 ? uint32_t{0x200000} << exponent : static_cast<uint32_t>(exponent - 1) << 23);
}
// Half of a float8_e4m3fn without sign; NaN is 0.
HWY_INLINE float half_float8(uint8_t x) {
  const uint32_t exponent = x >> 3 & 15, mantissa = x & 7;
  const float normal = from_bits((exponent + 119) << 23 | mantissa << 20);
  const float small = static_cast<float>(mantissa) * 0x1p-10f;
  return x == 0x7f ? 0 : exponent == 0 ? small : normal;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
