// Numbers and scales of the dtypes with codebooks. A number is the code of the element's magnitude and, above it, the
// bit of its sign; in iq1 the code of -1, 0 or 1, and the bit of the offset's sign.
#pragma once

#include <ferrule/cpp/codebooks.hpp>

#include "../../quantized_blocks.h"
#include "bit_fields.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The values that stored numbers stand for. The values of iq1 are in eighths, because its offset is an eighth.
constexpr int8_t iq1_values[16] = {-7, 1, 9, 0, -9, -1, 7};
constexpr int8_t iq2_values[16] = {8, 25, 43, 0, -8, -25, -43};
constexpr int8_t iq3_xxs_values[16] = {4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62};
constexpr int8_t iq3_s_values[16] = {1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15};

HWY_INLINE uint32_t word_of(const uint8_t* bytes) {
  uint32_t word;
  __builtin_memcpy(&word, bytes, 4);
  return word;
}
// Half `k % 2` of a byte.
HWY_INLINE uint32_t half_of(uint32_t byte, int64_t k) { return byte >> k % 2 * 4 & 15; }
// Eight signs of which seven are stored: an even number of them is negative.
HWY_INLINE uint32_t with_even_sign(uint32_t signs) {
  return signs | static_cast<uint32_t>(__builtin_parity(signs)) << 7;
}

// Eight elements; bit i of `signs` is that of element i.
HWY_INLINE void put_entry(uint32_t entry, uint32_t signs, uint8_t* to) {
  put_eight_bytes(scatter_bits(entry, each_byte * 3) | scatter_bits(signs, each_byte << 2), to);
}
HWY_INLINE void put_iq3(uint32_t first, uint32_t second, uint32_t signs, uint8_t* to) {
  put_eight_bytes(scatter_bits(first | second << 16, each_byte * 15) | scatter_bits(signs, each_byte << 3), to);
}

HWY_INLINE void part_numbers(const Block<DType::iq1_s>& block, int64_t k, uint8_t* to) {
  const uint32_t high = block.high[k], signs = (high & 0x8000) == 0 ? 0 : 255;
  for (int64_t i = 0; i < 4; ++i)
    put_entry(sdk::iq1_codebook[block.low[4 * k + i] | (high >> 3 * i & 7) << 8], signs, to + 8 * i);
}
HWY_INLINE void part_numbers(const Block<DType::iq1_m>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 4; ++i) {
    const uint32_t high = half_of(block.high[2 * k + i / 2], i);
    const uint32_t signs = (high & 8) == 0 ? 0 : 255;
    put_entry(sdk::iq1_codebook[block.low[4 * k + i] | (high & 7) << 8], signs, to + 8 * i);
  }
}
HWY_INLINE void part_numbers(const Block<DType::iq2_xxs>& block, int64_t k, uint8_t* to) {
  const uint8_t* part = block.parts[k];
  for (int64_t i = 0; i < 4; ++i)
    put_entry(sdk::iq2_xxs_codebook[part[i]], with_even_sign(word_of(part + 4) >> 7 * i & 127), to + 8 * i);
}
HWY_INLINE void part_numbers(const Block<DType::iq2_xs>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 4; ++i) {
    const uint32_t number = block.numbers[4 * k + i];
    put_entry(sdk::iq2_xs_codebook[number & 511], with_even_sign(number >> 9), to + 8 * i);
  }
}
HWY_INLINE void part_numbers(const Block<DType::iq2_s>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 4; ++i) {
    const uint32_t index = block.low[4 * k + i] | (block.high[k] >> 2 * i & 3u) << 8;
    put_entry(sdk::iq2_s_codebook[index], block.signs[4 * k + i], to + 8 * i);
  }
}
HWY_INLINE void part_numbers(const Block<DType::iq3_xxs>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 4; ++i) {
    const uint8_t* two = block.numbers + 8 * k + 2 * i;
    const uint32_t signs = with_even_sign(word_of(block.parts[k]) >> 7 * i & 127);
    put_iq3(sdk::iq3_xxs_codebook[two[0]], sdk::iq3_xxs_codebook[two[1]], signs, to + 8 * i);
  }
}
HWY_INLINE void part_numbers(const Block<DType::iq3_s>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 4; ++i) {
    const uint8_t* two = block.low + 8 * k + 2 * i;
    const uint32_t high = block.high[k] >> 2 * i;
    put_iq3(sdk::iq3_s_codebook[two[0] | (high & 1) << 8], sdk::iq3_s_codebook[two[1] | (high & 2) << 7],
            block.signs[4 * k + i], to + 8 * i);
  }
}

// The scale of part `k`, in the unit that scale_unit gives. Parts of these dtypes have 32 elements.
HWY_INLINE int part_scale(const Block<DType::iq1_s>& block, int64_t k) { return 2 * (block.high[k] >> 12 & 7) + 1; }
HWY_INLINE int part_scale(const Block<DType::iq2_xxs>& block, int64_t k) {
  return static_cast<int>(2 * (word_of(block.parts[k] + 4) >> 28) + 1);
}
HWY_INLINE int part_scale(const Block<DType::iq3_xxs>& block, int64_t k) {
  return static_cast<int>(2 * (word_of(block.parts[k]) >> 28) + 1);
}
HWY_INLINE int part_scale(const Block<DType::iq3_s>& block, int64_t k) {
  return static_cast<int>(2 * half_of(block.parts[k / 2], k) + 1);
}
// The scale of part `k`, in the same unit. Parts of these dtypes have 16 elements.
HWY_INLINE int part_scale(const Block<DType::iq1_m>& block, int64_t k) {
  return 2 * (block.parts[k / 4] >> k % 4 * 3 & 7) + 1;
}
HWY_INLINE int part_scale(const Block<DType::iq2_xs>& block, int64_t k) {
  return static_cast<int>(2 * half_of(block.parts[k / 2], k) + 1);
}
HWY_INLINE int part_scale(const Block<DType::iq2_s>& block, int64_t k) {
  return static_cast<int>(2 * half_of(block.parts[k / 2], k) + 1);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
