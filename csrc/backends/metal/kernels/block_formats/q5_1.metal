// q5_1: a scale, a minimum, and 5 bits for each of 32 elements: the highest of all, then the others as in q4_0.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const float scale = widened_f16(block[0]), least = widened_f16(block[1]);
  for (uint i = 0; i < COUNT; ++i) to[i] = scale * float(five_bits(block + 2, block + 4, first + i)) + least;
}
