// Products of a few rows, TILE_M, with weights in blocks. A threadgroup is one simdgroup. Each lane computes a column:
// it decodes the weights in the order of K and adds their products with each row. Its blocks pass through threadgroup
// memory, to which neighbouring lanes copy neighbouring words. Limit: the bytes of the blocks. Also defined in front:
// DEPTH, the elements of K in threadgroup memory, which are whole blocks.
#include "linear_algebra/block_products.metal"

#define ITEMS 16  // weights that are decoded at once
#define WORDS (DEPTH / BLOCK_ELEMENTS * BLOCK_WORDS)
// Distance from a column to the next: an odd number of 4 bytes, so that lanes that read the same word of their columns
// do not conflict in one bank.
#define PITCH (((WORDS + 1) / 2 | 1) * 2)

kernel void matmul_blocks_few(device const Stored* a [[buffer(0)]], device const BLOCK_WORD* b [[buffer(1)]],
                              OPERAND_PARAMETERS, constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  FERRULE_THREADGROUP(float, rows, [TILE_M * DEPTH]);
  FERRULE_THREADGROUP(BLOCK_WORD, blocks, [TILE_N * PITCH]);
  const Place place = place_of(p, group_number(group, groups));
  if (place.batch >= p.batches) return;  // the whole threadgroup returns
  const long a_start = offset_in(p.a_batches, place.batch), b_start = p.b_first + offset_in(p.b_batches, place.batch);

  float sums[TILE_M], totals[TILE_M];
  for (uint row = 0; row < TILE_M; ++row) sums[row] = totals[row] = 0;
  for (uint first_k = place.start; first_k < place.stop; first_k += DEPTH) {
    const uint count = min(uint(DEPTH), place.stop - first_k);  // whole blocks
    const uint words = count / BLOCK_ELEMENTS * BLOCK_WORDS;
    for (uint i = own; i < TILE_N * WORDS; i += TILE_N) {
      const uint column = i / WORDS, word = i - column * WORDS;
      if (word < words)
        blocks[column * PITCH + word] =
            column_at(b, b_start, p, place.first_n + column, first_k / BLOCK_ELEMENTS)[word];
    }
    for (uint i = own; i < TILE_M * DEPTH; i += TILE_N) {
      const uint along = A_ALONG_K ? i % DEPTH : i / TILE_M, row = A_ALONG_K ? i / DEPTH : i % TILE_M;
      if (along < count) rows[row * DEPTH + along] = a_at(a, a_start, p, place.first_m + row, first_k + along);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < count; k += ITEMS) {
      float items[ITEMS];
      decode(blocks + own * PITCH + k / BLOCK_ELEMENTS * BLOCK_WORDS, k % BLOCK_ELEMENTS, items);
      for (uint i = 0; i < ITEMS; ++i)
        for (uint row = 0; row < TILE_M; ++row) sums[row] = fma(rows[row * DEPTH + k + i], WEIGHT(items[i]), sums[row]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (IS_SEGMENTED && !IS_SPLIT && (first_k + DEPTH) % SEGMENT == 0)
      for (uint row = 0; row < TILE_M; ++row) {
        totals[row] += sums[row];
        sums[row] = 0;
      }
  }

  const uint n = place.first_n + own;
  for (uint row = 0; row < TILE_M; ++row) {
    const uint m = place.first_m + row;
    if (m >= p.m || n >= p.n) continue;
    const ulong element = (place.batch * p.m + m) * p.n + n;
    compute(operands, place.part + element, IS_SEGMENTED && !IS_SPLIT ? totals[row] + sums[row] : sums[row]);
  }
}
