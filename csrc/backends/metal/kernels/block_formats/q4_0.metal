// q4_0: a scale, and 4 bits for each of 32 elements. The lower halves of the bytes are the first 16 elements.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const float scale = widened_f16(block[0]);
  const uint shift = first / 16 * 4;
  const Words numbers = block + 1 + first % 16 / 2;
  for (uint i = 0; i < COUNT; ++i) to[i] = scale * float(int(byte_at(numbers, i) >> shift & 15) - 8);
}
