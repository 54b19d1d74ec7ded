// Blocks of float32 numbers. The encoders follow ggml's formulas step by step in float32, and so give the same bits as
// its Python package (gguf.quants).
#pragma once

#include "block_decoding.h"
#include "q8_0_encoding.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// What the scales of a block are made of. A block that contains NaN becomes NaN as a whole.
struct Extent {
  float least, greatest;    // numbers
  float largest;            // magnitude
  float largest_with_sign;  // the first of equals
  bool has_nan;
};
template <int64_t elements>
Extent extent_of(const float* x) {
  Extent found = {x[0], x[0], __builtin_fabsf(x[0]), x[0], false};
  for (int64_t i = 0; i < elements; ++i) {
    found.has_nan |= x[i] != x[i];
    if (x[i] < found.least) found.least = x[i];
    if (x[i] > found.greatest) found.greatest = x[i];
    if (__builtin_fabsf(x[i]) > found.largest) {
      found.largest = __builtin_fabsf(x[i]);
      found.largest_with_sign = x[i];
    }
  }
  return found;
}

// Half-way cases are rounded away from zero; what leaves [-most, most] and NaN become 0.
HWY_INLINE int rounded_within(float x, float most) {
  const float magnitude = __builtin_fabsf(x), whole = __builtin_floorf(magnitude);
  const float rounded = whole + __builtin_floorf(2 * (magnitude - whole));
  return rounded <= most ? static_cast<int>(x < 0 ? -rounded : rounded) : 0;
}
// The integer part in [0, most]; 0 for NaN.
HWY_INLINE uint8_t truncated(float x, float most) { return static_cast<uint8_t>(x >= most ? most : x >= 0 ? x : 0.0f); }

// 32 numbers of 4 bits: the first 16 are lower halves.
void put_halves(const uint8_t* numbers, uint8_t* to) {
  for (int64_t i = 0; i < 16; ++i) to[i] = static_cast<uint8_t>((numbers[i] & 15) | numbers[i + 16] << 4);
}
void put_fifth_bits(const uint8_t* numbers, uint8_t* to) {
  for (int64_t i = 0; i < 4; ++i) {
    to[i] = 0;
    for (int64_t j = 0; j < 8; ++j) to[i] |= static_cast<uint8_t>((numbers[8 * i + j] >> 4) << j);
  }
}

// Numbers from 0 to 2 `half` - 1 around `half`; the largest magnitude becomes 0.
template <class Block>
void quantize_around(const float* x, float half, Block& block, uint8_t* numbers) {
  const Extent extent = extent_of<32>(x);
  const float scale = extent.largest_with_sign / -half, inverse = inverse_of(scale);
  block.scale = extent.has_nan ? nan_scale : narrow_f16(scale);
  for (int64_t i = 0; i < 32; ++i)
    numbers[i] = extent.has_nan ? 0 : truncated(x[i] * inverse + (half + 0.5f), 2 * half - 1);
  put_halves(numbers, block.numbers);
}
void quantize(const float* x, Block<DType::q4_0>& block) {
  uint8_t numbers[32];
  quantize_around(x, 8, block, numbers);
}
void quantize(const float* x, Block<DType::q5_0>& block) {
  uint8_t numbers[32];
  quantize_around(x, 16, block, numbers);
  put_fifth_bits(numbers, block.high);
}

// Numbers from 0, for the least of the block, to `most`.
template <class Block>
void quantize_above(const float* x, float most, Block& block, uint8_t* numbers) {
  const Extent extent = extent_of<32>(x);
  const float scale = (extent.greatest - extent.least) / most, inverse = inverse_of(scale);
  block.scale = extent.has_nan ? nan_scale : narrow_f16(scale);
  block.least = extent.has_nan ? nan_scale : narrow_f16(extent.least);
  for (int64_t i = 0; i < 32; ++i)
    numbers[i] = extent.has_nan ? 0 : truncated((x[i] - extent.least) * inverse + 0.5f, most);
  put_halves(numbers, block.numbers);
}
void quantize(const float* x, Block<DType::q4_1>& block) {
  uint8_t numbers[32];
  quantize_above(x, 15, block, numbers);
}
void quantize(const float* x, Block<DType::q5_1>& block) {
  uint8_t numbers[32];
  quantize_above(x, 31, block, numbers);
  put_fifth_bits(numbers, block.high);
}

// -1, 0 and 1 as 0, 1 and 2.
template <class Block>
void quantize_to_signs(const float* x, Block& block, uint8_t* numbers) {
  const Extent extent = extent_of<256>(x);
  const float inverse = inverse_of(extent.largest);
  block.scale = extent.has_nan ? nan_scale : narrow_f16(extent.largest);
  for (int64_t i = 0; i < 256; ++i)
    numbers[i] = static_cast<uint8_t>(1 + (extent.has_nan ? 0 : rounded_within(x[i] * inverse, 1)));
}
void quantize(const float* x, Block<DType::tq2_0>& block) {
  uint8_t numbers[256];
  quantize_to_signs(x, block, numbers);
  for (int64_t i = 0; i < 64; ++i) {
    const uint8_t* from = numbers + i / 32 * 128 + i % 32;
    block.numbers[i] = static_cast<uint8_t>(from[0] | from[32] << 2 | from[64] << 4 | from[96] << 6);
  }
}
// Numbers in base 3, `apart` from each other, as a fraction of 256 that is rounded up.
template <int count>
uint8_t in_base_3(const uint8_t* numbers, int64_t apart) {
  int sum = 0;
  for (int64_t i = 0; i < 5; ++i) sum = 3 * sum + (i < count ? numbers[i * apart] : 0);
  return static_cast<uint8_t>((sum * 256 + 242) / 243);
}
void quantize(const float* x, Block<DType::tq1_0>& block) {
  uint8_t numbers[256];
  quantize_to_signs(x, block, numbers);
  for (int64_t i = 0; i < 32; ++i) block.numbers[i] = in_base_3<5>(numbers + i, 32);
  for (int64_t i = 0; i < 16; ++i) block.numbers[32 + i] = in_base_3<5>(numbers + 160 + i, 16);
  for (int64_t i = 0; i < 4; ++i) block.last[i] = in_base_3<4>(numbers + 240 + i, 4);
}

// The integer part of log2(x), which is rounded to float32 before: close below a power of two it is that of the power.
// x > 0 is finite.
int floor_of_log2(float x) {
  const float normal = x < 0x1p-126f ? x * 0x1p23f : x;
  const int exponent = static_cast<int>(to_bits(normal) >> 23) - 127 - (x < 0x1p-126f ? 23 : 0);
  // log2 of 1 - below, by three terms of its series
  const double below = 1 - static_cast<double>(from_bits((to_bits(normal) & 0x7fffff) | 0x3f800000)) / 2;
  if (below > 0x1p-10) return exponent;
  const double logarithm = exponent + 1 - below * (1 + below * (0.5 + below / 3)) * 1.4426950408889634;
  return static_cast<int>(__builtin_floorf(static_cast<float>(logarithm)));
}
// A block that is not finite becomes infinities, as there is no NaN. What is too small for the least exponent becomes
// small numbers of that.
void quantize(const float* x, Block<DType::mxfp4>& block) {
  const Extent extent = extent_of<32>(x);
  const bool is_finite = !extent.has_nan && extent.largest < __builtin_inff();
  const int exponent = extent.largest > 0 && is_finite ? floor_of_log2(extent.largest) + 125 : 0;
  block.exponent = static_cast<uint8_t>(!is_finite ? 255 : exponent < 0 ? 0 : exponent);
  const float scale = half_power(block.exponent);
  uint8_t numbers[32];
  for (int64_t i = 0; i < 32; ++i) {
    uint8_t best = 0;  // the first of those with the least error
    float least = __builtin_inff();
    for (uint8_t number = 0; number < 16; ++number) {
      const float error = __builtin_fabsf(scale * static_cast<float>(fp4_values[number]) - x[i]);
      if (error < least) {
        best = number;
        least = error;
      }
    }
    numbers[i] = is_finite ? best : x[i] < 0 ? 15 : 7;
  }
  put_halves(numbers, block.numbers);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
