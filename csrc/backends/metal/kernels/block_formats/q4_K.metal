// q4_K: eight parts of 32 elements of 4 bits. Each part has a scale and a minimum of 6 bits, and the block a scale for
// each of these.
#pragma once
#include "block_formats/bytes.metal"

template <typename Words, uint COUNT>
void decode(Words block, uint first, thread float (&to)[COUNT]) {
  const uint part = first / 32, shift = part % 2 * 4;
  // The 6 bits of the first four parts are in one byte, those of the others in two.
  const Words parts = block + 2;
  uint scale_bits, least_bits;
  if (part < 4) {
    scale_bits = byte_at(parts, part) & 63;
    least_bits = byte_at(parts, part + 4) & 63;
  } else {
    const uint low = byte_at(parts, part + 4);
    scale_bits = (low & 15) | (byte_at(parts, part - 4) >> 2 & 48);
    least_bits = low >> 4 | (byte_at(parts, part) >> 2 & 48);
  }
  const float scale = widened_f16(block[0]) * float(scale_bits), least = widened_f16(block[1]) * float(least_bits);
  const Words numbers = block + 8 + part / 2 * 16 + first % 32 / 2;
  for (uint i = 0; i < COUNT; ++i) to[i] = scale * float(byte_at(numbers, i) >> shift & 15) - least;
}
