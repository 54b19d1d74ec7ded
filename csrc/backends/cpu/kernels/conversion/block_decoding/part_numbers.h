// The unsigned integers that elements of blocks are stored as, by parts of 32 elements: what scales, minima and tables
// of values are applied to.
#pragma once

#include "../../quantized_blocks.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The lower halves of 16 bytes, then the upper ones.
HWY_INLINE void halves_of_16(const uint8_t* from, uint8_t* numbers) {
  for (int64_t i = 0; i < 16; ++i) {
    numbers[i] = from[i] & 15;
    numbers[i + 16] = from[i] >> 4;
  }
}
// The fifth bits of 32 numbers.
HWY_INLINE void add_fifth_bits(const uint8_t* bits, uint8_t* numbers) {
  for (int64_t i = 0; i < 32; ++i) numbers[i] |= static_cast<uint8_t>((bits[i / 8] >> (i % 8) & 1) << 4);
}
// Part k of 256 numbers of 4 bits: the lower halves of 32 bytes, or the upper ones.
HWY_INLINE void halves_of_32(const uint8_t* from, int64_t k, uint8_t* numbers) {
  const int shift = k % 2 == 0 ? 0 : 4;
  for (int64_t i = 0; i < 32; ++i) numbers[i] = from[k / 2 * 32 + i] >> shift & 15;
}
// Part k of 256 numbers of 2 bits: those of 32 bytes at one place.
HWY_INLINE void quarters_of_32(const uint8_t* from, int64_t k, uint8_t* numbers) {
  const int shift = static_cast<int>(k % 4 * 2);
  for (int64_t i = 0; i < 32; ++i) numbers[i] = from[k / 4 * 32 + i] >> shift & 3;
}

HWY_INLINE void part_numbers(const Block<DType::q4_0>& block, int64_t, uint8_t* to) { halves_of_16(block.numbers, to); }
HWY_INLINE void part_numbers(const Block<DType::q4_1>& block, int64_t, uint8_t* to) { halves_of_16(block.numbers, to); }
HWY_INLINE void part_numbers(const Block<DType::q5_0>& block, int64_t, uint8_t* to) {
  halves_of_16(block.numbers, to);
  add_fifth_bits(block.high, to);
}
HWY_INLINE void part_numbers(const Block<DType::q5_1>& block, int64_t, uint8_t* to) {
  halves_of_16(block.numbers, to);
  add_fifth_bits(block.high, to);
}

HWY_INLINE void part_numbers(const Block<DType::q2_K>& block, int64_t k, uint8_t* to) {
  quarters_of_32(block.numbers, k, to);
}
HWY_INLINE void part_numbers(const Block<DType::q3_K>& block, int64_t k, uint8_t* to) {
  quarters_of_32(block.low, k, to);
  for (int64_t i = 0; i < 32; ++i) to[i] |= static_cast<uint8_t>((block.high[i] >> k & 1) << 2);
}
HWY_INLINE void part_numbers(const Block<DType::q4_K>& block, int64_t k, uint8_t* to) {
  halves_of_32(block.numbers, k, to);
}
HWY_INLINE void part_numbers(const Block<DType::q5_K>& block, int64_t k, uint8_t* to) {
  halves_of_32(block.numbers, k, to);
  for (int64_t i = 0; i < 32; ++i) to[i] |= static_cast<uint8_t>((block.high[i] >> k & 1) << 4);
}
HWY_INLINE void part_numbers(const Block<DType::q6_K>& block, int64_t k, uint8_t* to) {
  const int64_t half = k / 4, quarter = k % 4;
  const uint8_t* low = block.low + 64 * half + 32 * (quarter % 2);
  const uint8_t* high = block.high + 32 * half;
  const int low_shift = quarter < 2 ? 0 : 4, high_shift = static_cast<int>(2 * quarter);
  for (int64_t i = 0; i < 32; ++i)
    to[i] = static_cast<uint8_t>((low[i] >> low_shift & 15) | (high[i] >> high_shift & 3) << 4);
}

HWY_INLINE void part_numbers(const Block<DType::iq4_nl>& block, int64_t, uint8_t* to) {
  halves_of_16(block.numbers, to);
}
HWY_INLINE void part_numbers(const Block<DType::iq4_xs>& block, int64_t k, uint8_t* to) {
  halves_of_16(block.numbers + 16 * k, to);
}
HWY_INLINE void part_numbers(const Block<DType::mxfp4>& block, int64_t, uint8_t* to) {
  halves_of_16(block.numbers, to);
}
// Each 16 elements are the lower halves of 8 bytes, and then the upper ones.
HWY_INLINE void part_numbers(const Block<DType::nvfp4>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 32; ++i) {
    const uint8_t byte = block.numbers[16 * k + i / 16 * 8 + i % 8];
    to[i] = i % 16 < 8 ? byte & 15 : byte >> 4;
  }
}

// A byte is a fraction of 256 in base 3; multiplied by a power of 3, its first digit is the element's.
HWY_INLINE void part_numbers(const Block<DType::tq1_0>& block, int64_t k, uint8_t* to) {
  static constexpr uint8_t powers[5] = {1, 3, 9, 27, 81};
  for (int64_t i = 0; i < 32; ++i) {
    const int64_t element = 32 * k + i, second = element - 160, third = element - 240;
    const uint8_t byte = second < 0  ? block.numbers[i]
                         : third < 0 ? block.numbers[32 + second % 16]
                                     : block.last[third % 4];
    const int64_t place = second < 0 ? k : third < 0 ? second / 16 : third / 4;
    to[i] = static_cast<uint8_t>(static_cast<uint8_t>(byte * powers[place]) * 3 >> 8);
  }
}
HWY_INLINE void part_numbers(const Block<DType::tq2_0>& block, int64_t k, uint8_t* to) {
  quarters_of_32(block.numbers, k, to);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
