// The common part of the kernels of products with weights in blocks. A column of B is a row of blocks along K. The
// weights are decoded, and rounded if A is a half, and an element is added up in the order of products.metal: the bits
// are those of the product with the decoded B, whatever the tile.
//
// Defined in front: Stored and element_at, for A; IS_SEGMENTED and IS_SPLIT, as in products.metal; SEGMENT;
// block_weights.metal; WEIGHT(x), the decoded x in the dtype of A; A_ALONG_K, whether elements of A that are adjacent in
// memory are adjacent along K; TILE_M and TILE_N, the size of a tile of the result.
#pragma once
#include "interface.metal"

struct Parameters {
  Layout a_batches, b_batches;      // of b: strides in words
  long a_row, a_column;             // in elements
  long b_first, b_column;           // in words: where the first column is, and the step to the next
  ulong batches;
  uint m, n, k, unused;
  ElementLayouts layouts;
};

// The part of the result that a threadgroup computes.
struct Place {
  ulong batch;
  uint first_m, first_n;
  uint start, stop;  // of K
  ulong part;        // in scratch memory, if it computes one segment
};
inline Place place_of(constant Parameters& p, ulong tile) {
  const uint segments = IS_SPLIT ? (p.k + SEGMENT - 1) / SEGMENT : 1;
  const ulong tiles_n = (p.n + TILE_N - 1) / TILE_N, tiles_m = (p.m + TILE_M - 1) / TILE_M;
  const ulong above_n = tile / tiles_n, above_m = above_n / tiles_m, batch = above_m / segments;
  const uint segment = uint(above_m - batch * segments), start = segment * SEGMENT;
  return Place{batch,
               uint(above_n - above_m * tiles_m) * TILE_M,
               uint(tile - above_n * tiles_n) * TILE_N,
               start,
               IS_SPLIT ? min(p.k, start + SEGMENT) : p.k,
               IS_SPLIT ? segment * p.batches * p.m * p.n : 0};
}

// The blocks of a column, from block number `block` on. Beyond the last column it is the last one, of which the results
// are not stored; the same holds for rows of A.
inline device const BLOCK_WORD* column_at(device const BLOCK_WORD* b, long start, constant Parameters& p, uint n, uint block) {
  return b + start + long(min(n, p.n - 1)) * p.b_column + long(block) * BLOCK_WORDS;
}
inline float a_at(device const Stored* a, long start, constant Parameters& p, uint m, uint k) {
  return element_at(a, start + long(min(m, p.m - 1)) * p.a_row + long(k) * p.a_column);
}
