// q4_K: eight parts of 32 elements of 4 bits. Each part has a scale and a minimum of 6 bits, and the block a scale for
// each of these.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const uint part = first / 32, shift = part % 2 * 4;
  const uint2 bits = bits_of_part(block + 2, part);
  const float scale = widened_f16(block[0]) * float(bits.x), least = widened_f16(block[1]) * float(bits.y);
  const Words numbers = block + 8 + part / 2 * 16 + first % 32 / 2;
  for (uint i = 0; i < COUNT; ++i) to[i] = scale * float(byte_at(numbers, i) >> shift & 15) - least;
}
