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
inline int signed_byte(uint byte) { return int(byte << 24) >> 24; }
