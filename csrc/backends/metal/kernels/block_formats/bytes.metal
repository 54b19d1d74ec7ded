// Access to blocks. A block lies in memory as in GGUF files, aligned to 2 bytes, and is read in words of 2 bytes. The
// including texts define BLOCK_ELEMENTS and BLOCK_WORDS, what a block has, and include the file of this folder for the
// block dtype. It has
//   decode(block, first, to)     the elements of a block from number `first` on, as float32, by ggml's formulas step by
//                                step, so that the bits are those of its Python package (gguf.quants). `to` has 4, 8 or
//                                16 of them, and `first` is a multiple of that.
// Scales are float16. No number is subnormal as float32: all are multiples of 2^-24.
#pragma once
#include "elementwise/elements.metal"

// `Words` is a pointer to ushort in device or threadgroup memory.
template <typename Words>
uint byte_at(Words words, uint at) {
  return uint(words[at / 2]) >> (at % 2 * 8) & 0xffu;
}
// Numbers of 6 bits, the scale and the minimum of a part: those of the first four parts are in one byte, the others in
// two.
template <typename Words>
uint2 bits_of_part(Words parts, uint part) {
  if (part < 4) return uint2(byte_at(parts, part) & 63, byte_at(parts, part + 4) & 63);
  const uint low = byte_at(parts, part + 4);
  return uint2((low & 15) | (byte_at(parts, part - 4) >> 2 & 48), low >> 4 | (byte_at(parts, part) >> 2 & 48));
}
// Number i of 32, whose highest bits are bits of two words and the others halves of bytes.
template <typename Words>
uint five_bits(Words high, Words numbers, uint i) {
  return (byte_at(numbers, i % 16) >> i / 16 * 4 & 15) | (byte_at(high, i / 8) >> i % 8 & 1) << 4;
}
inline int signed_byte(uint byte) { return int(byte << 24) >> 24; }
