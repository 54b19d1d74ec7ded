// The unsigned integers that elements of blocks are stored as, by parts of 32 elements: what scales, minima and tables
// of values are applied to.
#pragma once

#include "../../quantized_blocks.h"
#include "bit_fields.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The lower halves of 16 bytes, then the upper ones.
HWY_INLINE void halves_of_16(const uint8_t* from, uint8_t* numbers) {
  const Bytes bytes = load_bytes(from);
  store_bytes(bits_of(bytes, 0, 15), numbers);
  store_bytes(bits_of(bytes, 4, 15), numbers + 16);
}
// The fifth bits of 32 numbers.
HWY_INLINE void add_fifth_bits(const uint8_t* bits, uint8_t* numbers) {
  for (int64_t i = 0; i < 4; ++i)
    put_eight_bytes(eight_bytes(numbers + 8 * i) | scatter_bits(bits[i], each_byte << 4), numbers + 8 * i);
}
// Part k of 256 numbers of 4 bits, those of 32 bytes at one place, and of 2 bits.
HWY_INLINE Bytes half_bytes(const uint8_t* from, int64_t k) {
  return bits_of(load_bytes(from + k / 2 * 32), k % 2 == 0 ? 0 : 4, 15);
}
HWY_INLINE Bytes quarter_bytes(const uint8_t* from, int64_t k) {
  return bits_of(load_bytes(from + k / 4 * 32), static_cast<int>(k % 4 * 2), 3);
}
HWY_INLINE Bytes single_bits(const uint8_t* from, int64_t k) {
  return bits_of(load_bytes(from), static_cast<int>(k), 1);
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

// Plus 128.
HWY_INLINE void part_numbers(const Block<DType::q8_0>& block, int64_t, uint8_t* to) {
  for (int64_t i = 0; i < 32; ++i) to[i] = static_cast<uint8_t>(block.numbers[i] + 128);
}

HWY_INLINE void part_numbers(const Block<DType::q2_K>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 32; i += 16) store_bytes(quarter_bytes(block.numbers + i, k), to + i);
}
HWY_INLINE void part_numbers(const Block<DType::q3_K>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 32; i += 16) {
    const Bytes high = raised<2>(single_bits(block.high + i, k));
    store_bytes(hn::Or(quarter_bytes(block.low + i, k), high), to + i);
  }
}
HWY_INLINE void part_numbers(const Block<DType::q4_K>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 32; i += 16) store_bytes(half_bytes(block.numbers + i, k), to + i);
}
HWY_INLINE void part_numbers(const Block<DType::q5_K>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 32; i += 16) {
    const Bytes high = raised<4>(single_bits(block.high + i, k));
    store_bytes(hn::Or(half_bytes(block.numbers + i, k), high), to + i);
  }
}
HWY_INLINE void part_numbers(const Block<DType::q6_K>& block, int64_t k, uint8_t* to) {
  const uint8_t* low = block.low + 64 * (k / 4) + 32 * (k % 2);
  for (int64_t i = 0; i < 32; i += 16) {
    const Bytes low_bits = bits_of(load_bytes(low + i), k % 4 < 2 ? 0 : 4, 15);
    store_bytes(hn::Or(low_bits, raised<4>(quarter_bytes(block.high + i, k))), to + i);
  }
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
  for (int64_t i = 0; i < 2; ++i) {
    const uint64_t bytes = eight_bytes(block.numbers + 16 * k + 8 * i);
    put_eight_bytes(bytes & each_byte * 15, to + 16 * i);
    put_eight_bytes(bytes >> 4 & each_byte * 15, to + 16 * i + 8);
  }
}

// A byte is a fraction of 256 in base 3; multiplied by a power of 3, its first digit is the element's.
HWY_INLINE void put_digits(const uint8_t* from, int64_t count, int place, uint8_t* to) {
  static constexpr uint8_t powers[5] = {1, 3, 9, 27, 81};
  const uint32_t power = powers[place];
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>((from[i] * power & 255) * 3 >> 8);
}
// Five digits of each 32 bytes, then of each 16, and four of the last 4.
HWY_INLINE void part_numbers(const Block<DType::tq1_0>& block, int64_t k, uint8_t* to) {
  const int place = static_cast<int>(2 * (k - 5));
  if (k < 5) return put_digits(block.numbers, 32, static_cast<int>(k), to);
  put_digits(block.numbers + 32, 16, place, to);
  if (k < 7) return put_digits(block.numbers + 32, 16, place + 1, to + 16);
  for (int i = 0; i < 4; ++i) put_digits(block.last, 4, i, to + 16 + 4 * i);
}
HWY_INLINE void part_numbers(const Block<DType::tq2_0>& block, int64_t k, uint8_t* to) {
  for (int64_t i = 0; i < 32; i += 16) store_bytes(quarter_bytes(block.numbers + i, k), to + i);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
