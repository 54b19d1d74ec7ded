// q5_0: a scale, and 5 bits for each of 32 elements: the highest of all, then the others as in q4_0.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const float scale = widened_f16(block[0]);
  for (uint i = 0; i < COUNT; ++i) to[i] = scale * float(int(five_bits(block + 1, block + 3, first + i)) - 16);
}
