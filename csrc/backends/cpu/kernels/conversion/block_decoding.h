// The weights of blocks, by parts of 32 elements, with the bits that ggml's Python package gives them (gguf.quants).
// Dtypes with a minimum have inexact products: there each step is rounded to float32 as in the package.
#pragma once

#include "block_decoding/codebook_numbers.h"
#include "block_decoding/part_numbers.h"
#include "block_decoding/part_scales.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The values of numbers of 4 bits: those of iq4; and those of mxfp4 and nvfp4 (E2M1), doubled.
constexpr int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr int8_t fp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// The scales of part k, each of `per_scale` elements.
template <int per_scale, DType dtype>
struct PartScales {
  float values[32 / per_scale];

  PartScales(const Block<dtype>& block, int64_t k) {
    constexpr int64_t count = 32 / per_scale;
    const float whole = widen(scale_of(block)) * scale_unit<dtype>;
    for (int64_t i = 0; i < count; ++i) values[i] = whole * static_cast<float>(part_scale(block, count * k + i));
  }
};

// y[i] = finish(number i, i) for vectors of numbers, which are signed or unsigned bytes.
template <class T, class Finish>
HWY_INLINE void finish_numbers(const T* numbers, float* y, Finish finish) {
  const Full<float> d;
  const Full<int32_t> di;
  const hn::Rebind<T, Full<float>> narrow;
  for (int64_t i = 0; i < 32; i += static_cast<int64_t>(lanes_of<float>))
    hn::StoreU(finish(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(narrow, numbers + i))), i), d, y + i);
}
// scale * (number - offset)
template <int per_scale, class Block>
HWY_INLINE void decode_with_offset(const Block& block, int64_t k, float offset, const float* scales, float* y) {
  const Full<float> d;
  uint8_t numbers[32];
  part_numbers(block, k, numbers);
  finish_numbers(numbers, y, [&](auto number, int64_t i) {
    return hn::Mul(hn::Set(d, scales[i / per_scale]), hn::Sub(number, hn::Set(d, offset)));
  });
}
// scale * values[number]
template <int per_scale, class Block>
HWY_INLINE void decode_with_values(const Block& block, int64_t k, const int8_t* values, const float* scales, float* y) {
  const Full<float> d;
  const hn::Full128<int8_t> d8;
  uint8_t numbers[32];
  int8_t found[32];
  part_numbers(block, k, numbers);
  for (int64_t i = 0; i < 32; i += 16)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d8, values), hn::BitCast(d8, load_bytes(numbers + i))), d8, found + i);
  finish_numbers(found, y, [&](auto number, int64_t i) { return hn::Mul(hn::Set(d, scales[i / per_scale]), number); });
}
// scale * number - least
template <int per_scale, class Block>
HWY_INLINE void decode_with_least(const Block& block, int64_t k, const float* scales, const float* leasts, float* y) {
  const Full<float> d;
  uint8_t numbers[32];
  part_numbers(block, k, numbers);
  finish_numbers(numbers, y, [&](auto number, int64_t i) {
    return hn::Sub(hn::Mul(hn::Set(d, scales[i / per_scale]), number), hn::Set(d, leasts[i / per_scale]));
  });
}
// Calls decode_with_least with the scales and minimums of the parts: integers times the block's scale and minimum.
template <int per_scale, DType dtype>
HWY_INLINE void decode_with_part_leasts(const Block<dtype>& block, int64_t k, float* y) {
  constexpr int64_t count = 32 / per_scale;
  float leasts[count];
  for (int64_t i = 0; i < count; ++i)
    leasts[i] = widen(block.least) * static_cast<float>(part_least(block, count * k + i));
  decode_with_least<per_scale>(block, k, PartScales<per_scale, dtype>(block, k).values, leasts, y);
}

HWY_INLINE void decode_part(const Block<DType::q8_0>& block, int64_t, float* y) {
  const float scale = widen(block.scale);
  for (int64_t i = 0; i < 32; ++i) y[i] = scale * static_cast<float>(block.numbers[i]);
}
HWY_INLINE void decode_part(const Block<DType::q4_0>& block, int64_t k, float* y) {
  const float scale = widen(block.scale);
  decode_with_offset<32>(block, k, 8, &scale, y);
}
HWY_INLINE void decode_part(const Block<DType::q5_0>& block, int64_t k, float* y) {
  const float scale = widen(block.scale);
  decode_with_offset<32>(block, k, 16, &scale, y);
}
HWY_INLINE void decode_part(const Block<DType::q4_1>& block, int64_t k, float* y) {
  const float scale = widen(block.scale), least = -widen(block.least);
  decode_with_least<32>(block, k, &scale, &least, y);
}
HWY_INLINE void decode_part(const Block<DType::q5_1>& block, int64_t k, float* y) {
  const float scale = widen(block.scale), least = -widen(block.least);
  decode_with_least<32>(block, k, &scale, &least, y);
}

HWY_INLINE void decode_part(const Block<DType::q2_K>& block, int64_t k, float* y) {
  decode_with_part_leasts<16>(block, k, y);
}
HWY_INLINE void decode_part(const Block<DType::q4_K>& block, int64_t k, float* y) {
  decode_with_part_leasts<32>(block, k, y);
}
HWY_INLINE void decode_part(const Block<DType::q5_K>& block, int64_t k, float* y) {
  decode_with_part_leasts<32>(block, k, y);
}
HWY_INLINE void decode_part(const Block<DType::q3_K>& block, int64_t k, float* y) {
  decode_with_offset<16>(block, k, 4, PartScales<16, DType::q3_K>(block, k).values, y);
}
HWY_INLINE void decode_part(const Block<DType::q6_K>& block, int64_t k, float* y) {
  decode_with_offset<16>(block, k, 32, PartScales<16, DType::q6_K>(block, k).values, y);
}

HWY_INLINE void decode_part(const Block<DType::iq4_nl>& block, int64_t k, float* y) {
  const float scale = widen(block.scale);
  decode_with_values<32>(block, k, iq4_values, &scale, y);
}
HWY_INLINE void decode_part(const Block<DType::iq4_xs>& block, int64_t k, float* y) {
  decode_with_values<32>(block, k, iq4_values, PartScales<32, DType::iq4_xs>(block, k).values, y);
}
HWY_INLINE void decode_part(const Block<DType::iq3_s>& block, int64_t k, float* y) {
  decode_with_values<32>(block, k, iq3_s_values, PartScales<32, DType::iq3_s>(block, k).values, y);
}
HWY_INLINE void decode_part(const Block<DType::iq3_xxs>& block, int64_t k, float* y) {
  decode_with_values<32>(block, k, iq3_xxs_values, PartScales<32, DType::iq3_xxs>(block, k).values, y);
}
HWY_INLINE void decode_part(const Block<DType::iq2_s>& block, int64_t k, float* y) {
  decode_with_values<16>(block, k, iq2_values, PartScales<16, DType::iq2_s>(block, k).values, y);
}
HWY_INLINE void decode_part(const Block<DType::iq2_xs>& block, int64_t k, float* y) {
  decode_with_values<16>(block, k, iq2_values, PartScales<16, DType::iq2_xs>(block, k).values, y);
}
HWY_INLINE void decode_part(const Block<DType::iq2_xxs>& block, int64_t k, float* y) {
  decode_with_values<32>(block, k, iq2_values, PartScales<32, DType::iq2_xxs>(block, k).values, y);
}
HWY_INLINE void decode_part(const Block<DType::iq1_m>& block, int64_t k, float* y) {
  decode_with_values<16>(block, k, iq1_values, PartScales<16, DType::iq1_m>(block, k).values, y);
}
HWY_INLINE void decode_part(const Block<DType::iq1_s>& block, int64_t k, float* y) {
  decode_with_values<32>(block, k, iq1_values, PartScales<32, DType::iq1_s>(block, k).values, y);
}

HWY_INLINE void decode_part(const Block<DType::mxfp4>& block, int64_t k, float* y) {
  const float scale = half_power(block.exponent);
  decode_with_values<32>(block, k, fp4_values, &scale, y);
}
HWY_INLINE void decode_part(const Block<DType::nvfp4>& block, int64_t k, float* y) {
  const float scales[2] = {half_float8(block.parts[2 * k]), half_float8(block.parts[2 * k + 1])};
  decode_with_values<16>(block, k, fp4_values, scales, y);
}

HWY_INLINE void decode_part(const Block<DType::tq1_0>& block, int64_t k, float* y) {
  const float scale = widen(block.scale);
  decode_with_offset<32>(block, k, 1, &scale, y);
}
HWY_INLINE void decode_part(const Block<DType::tq2_0>& block, int64_t k, float* y) {
  const float scale = widen(block.scale);
  decode_with_offset<32>(block, k, 1, &scale, y);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
