// Access to blocks: decode(block, first, to) gives the elements of a block from number `first` on, as float32. `to` has 8
// or 16 of them, and `first` is a multiple of that.
//
// Defined in front: BLOCK_DTYPE, the name of the dtype; BLOCK_ELEMENTS, what a block has; BLOCK_WORD, in which it is
// read from device or threadgroup memory (ushort, where blocks have whole ones, or uchar); BLOCK_WORDS, how many it has.
#pragma once
#include "elementwise/elements.metal"

// `Block` is a pointer to BLOCK_WORD.
template <typename Block>
uint byte_at(Block block, uint at) {
  constexpr uint bytes = sizeof(BLOCK_WORD);
  return uint(block[at / bytes]) >> (at % bytes * 8) & 0xffu;
}

#define BLOCK Block
#define BYTE(block, at) byte_at(block, at)
#define BLOCK_FUNCTION template <typename Block>
#define FUNCTION inline
#define NUMBERS(numbers) thread int(&numbers)[8]
#define FLOAT16(bits) widened_f16(ushort(bits))
#define BITS_AS_FLOAT(bits) as_type<float>(uint(bits))
#define TABLE(type) constant type
#include "block_weights.inc"

#define JOINED(dtype, what) dtype##what
#define OF_DTYPE(dtype, what) JOINED(dtype, what)

template <typename Block, uint COUNT>
void decode(Block block, uint first, thread float (&to)[COUNT]) {
  const float scale = OF_DTYPE(BLOCK_DTYPE, _scale)(block, first / 16);
  const float least = OF_DTYPE(BLOCK_DTYPE, _least)(block, first / 16);
  for (uint i = 0; i < COUNT; i += 8) {
    int numbers[8];
    OF_DTYPE(BLOCK_DTYPE, _numbers)(block, first + i, numbers);
    for (uint j = 0; j < 8; ++j) to[i + j] = scale * float(numbers[j]) - least;
  }
}
