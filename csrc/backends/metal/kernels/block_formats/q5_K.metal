// q5_K: as q4_K, with a fifth bit for each element: bit k of a byte is that of part k.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const uint part = first / 32, shift = part % 2 * 4;
  const uint2 bits = bits_of_part(block + 2, part);
  const float scale = widened_f16(block[0]) * float(bits.x), least = widened_f16(block[1]) * float(bits.y);
  const Words high = block + 8 + first % 32 / 2, numbers = block + 24 + part / 2 * 16 + first % 32 / 2;
  for (uint i = 0; i < COUNT; ++i) {
    const uint number = (byte_at(numbers, i) >> shift & 15) | (byte_at(high, i) >> part & 1) << 4;
    to[i] = scale * float(number) - least;
  }
}
