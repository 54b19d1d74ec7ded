// Decodes blocks to float32. A thread converts eight adjacent elements. The including text has
// block_weights.metal.
#include "interface.metal"

#define ITEMS 8

struct Parameters {
  Layout blocks;  // of the array; strides in blocks
  ulong count;    // of groups of ITEMS elements
};

kernel void dequantize(device const BLOCK_WORD* from [[buffer(0)]], device float* to [[buffer(1)]],
                       constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  constexpr uint in_block = BLOCK_ELEMENTS / ITEMS;
  const ulong block = number / in_block;
  float items[ITEMS];
  decode(from + offset_in(p.blocks, block) * BLOCK_WORDS, uint(number - block * in_block) * ITEMS, items);
  for (uint i = 0; i < ITEMS; ++i) to[number * ITEMS + i] = items[i];
}
