// q2_K: sixteen parts of 16 elements of 2 bits. Each part has a scale and a minimum of 4 bits, and the block a scale
// for each of these.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const uint part = byte_at(block, first / 16), shift = first / 32 % 4 * 2;
  const float scale = widened_f16(block[40]) * float(part & 15), least = widened_f16(block[41]) * float(part >> 4);
  const Words numbers = block + 8 + first / 128 * 16 + first % 32 / 2;
  for (uint i = 0; i < COUNT; ++i) to[i] = scale * float(byte_at(numbers, i) >> shift & 3) - least;
}
