// q4_1: a scale, a minimum, and 4 bits for each of 32 elements. The lower halves of the bytes are the first 16.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const float scale = widened_f16(block[0]), least = widened_f16(block[1]);
  const uint shift = first / 16 * 4;
  const Words numbers = block + 2 + first % 16 / 2;
  for (uint i = 0; i < COUNT; ++i) to[i] = scale * float(byte_at(numbers, i) >> shift & 15) + least;
}
