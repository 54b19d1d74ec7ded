// q3_K: sixteen parts of 16 elements of 3 bits, of which the highest is in one place and 2 in another. Each part has a
// scale of 6 bits, and the block a scale for these.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const uint part = first / 16, quarter = first / 32, shift = quarter % 4 * 2;
  const Words parts = block + 48;
  const uint low = byte_at(parts, part % 8) >> part / 8 * 4 & 15;
  const uint upper = byte_at(parts, 8 + part % 4) >> part / 4 * 2 & 3;
  const float scale = widened_f16(block[54]) * float(int(low | upper << 4) - 32);
  const Words high = block + first % 32 / 2, numbers = block + 16 + first / 128 * 16 + first % 32 / 2;
  for (uint i = 0; i < COUNT; ++i) {
    const uint number = (byte_at(numbers, i) >> shift & 3) | (byte_at(high, i) >> quarter & 1) << 2;
    to[i] = scale * float(int(number) - 4);
  }
}
