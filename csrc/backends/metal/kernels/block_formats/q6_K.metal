// q6_K: sixteen parts of 16 elements of 6 bits, of which 4 are in one place and 2 in another. Each part has a scale of
// 8 bits, and the block a scale for these.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const uint half_number = first / 128, quarter = first / 32 % 4, at = first % 32;
  const Words low = block + 32 * half_number + 16 * (quarter % 2) + at / 2;
  const Words high = block + 64 + 16 * half_number + at / 2;
  const uint low_shift = quarter / 2 * 4, high_shift = quarter * 2;
  const float scale = widened_f16(block[104]) * float(signed_byte(byte_at(block + 96, first / 16)));
  for (uint i = 0; i < COUNT; ++i) {
    const uint number = (byte_at(low, i) >> low_shift & 15) | (byte_at(high, i) >> high_shift & 3) << 4;
    to[i] = scale * float(int(number) - 32);
  }
}
