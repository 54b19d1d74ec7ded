// q8_0: a scale, and a signed byte for each of 32 elements.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const float scale = widened_f16(block[0]);
  const Words numbers = block + 1 + first / 2;
  for (uint i = 0; i < COUNT; ++i) to[i] = scale * float(signed_byte(byte_at(numbers, i)));
}
