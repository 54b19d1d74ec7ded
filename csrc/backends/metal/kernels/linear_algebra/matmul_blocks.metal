// Products of many rows with weights in blocks: tiles through threadgroup memory, into which the weights are decoded.
// Also defined in front: OWN_M and OWN_N, the size of the part that one thread computes; DEPTH, the elements of K in
// threadgroup memory, of which K is a multiple.
#include "linear_algebra/block_products.metal"

#define ACROSS (TILE_N / OWN_N)
#define DOWN (TILE_M / OWN_M)
#define THREADS (ACROSS * DOWN)
#define ITEMS 8  // weights that a thread decodes at once

kernel void matmul_blocks(device const Stored* a [[buffer(0)]], device const BLOCK_WORD* b [[buffer(1)]],
                          OPERAND_PARAMETERS, constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  // One extra column, so that threads that write along K do not conflict in one bank.
  FERRULE_THREADGROUP(float, a_tile, [DEPTH * (TILE_M + 1)]);
  FERRULE_THREADGROUP(float, b_tile, [DEPTH * (TILE_N + 1)]);
  const Place place = place_of(p, group_number(group, groups));
  if (place.batch >= p.batches) return;  // the whole threadgroup returns
  const long a_start = offset_in(p.a_batches, place.batch), b_start = p.b_first + offset_in(p.b_batches, place.batch);

  // The elements of a thread are as far apart as there are threads in that direction.
  const uint own_n = own % ACROSS, own_m = own / ACROSS;
  float sums[OWN_M][OWN_N], totals[OWN_M][OWN_N];
  for (uint i = 0; i < OWN_M; ++i)
    for (uint j = 0; j < OWN_N; ++j) sums[i][j] = totals[i][j] = 0;

  for (uint first_k = place.start; first_k < place.stop; first_k += DEPTH) {
    for (uint i = own; i < DEPTH * TILE_M; i += THREADS) {
      const uint along = A_ALONG_K ? i % DEPTH : i / TILE_M, row = A_ALONG_K ? i / DEPTH : i % TILE_M;
      a_tile[along * (TILE_M + 1) + row] = a_at(a, a_start, p, place.first_m + row, first_k + along);
    }
    for (uint i = own; i < TILE_N * (DEPTH / ITEMS); i += THREADS) {
      const uint column = i / (DEPTH / ITEMS), along = i % (DEPTH / ITEMS) * ITEMS, k = first_k + along;
      float items[ITEMS];
      decode(column_at(b, b_start, p, place.first_n + column, k / BLOCK_ELEMENTS), k % BLOCK_ELEMENTS, items);
      for (uint j = 0; j < ITEMS; ++j) b_tile[(along + j) * (TILE_N + 1) + column] = WEIGHT(items[j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint along = 0; along < DEPTH; ++along) {
      float rows[OWN_M], columns[OWN_N];
      for (uint i = 0; i < OWN_M; ++i) rows[i] = a_tile[along * (TILE_M + 1) + own_m + i * DOWN];
      for (uint j = 0; j < OWN_N; ++j) columns[j] = b_tile[along * (TILE_N + 1) + own_n + j * ACROSS];
      for (uint i = 0; i < OWN_M; ++i)
        for (uint j = 0; j < OWN_N; ++j) sums[i][j] = fma(rows[i], columns[j], sums[i][j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (IS_SEGMENTED && !IS_SPLIT && (first_k + DEPTH) % SEGMENT == 0)
      for (uint i = 0; i < OWN_M; ++i)
        for (uint j = 0; j < OWN_N; ++j) {
          totals[i][j] += sums[i][j];
          sums[i][j] = 0;
        }
  }

  for (uint i = 0; i < OWN_M; ++i)
    for (uint j = 0; j < OWN_N; ++j) {
      const uint m = place.first_m + own_m + i * DOWN, n = place.first_n + own_n + j * ACROSS;
      if (m >= p.m || n >= p.n) continue;
      const ulong element = (place.batch * p.m + m) * p.n + n;
      compute(operands, place.part + element, IS_SEGMENTED && !IS_SPLIT ? totals[i][j] + sums[i][j] : sums[i][j]);
    }
}
