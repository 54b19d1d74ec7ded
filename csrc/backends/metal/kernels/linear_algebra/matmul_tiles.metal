// Matrix products by 8 x 8 products of simdgroups. A threadgroup computes a tile of the result, of which each simdgroup
// has a part; operands pass through threadgroup memory as float32. Outside of the matrices, tiles are zero along both
// operands, so an infinity does not become NaN there.
//
// Also defined in front: the sizes of a tile, TILE_M and TILE_N; DOWN and ACROSS, the simdgroups of a threadgroup in
// each direction; A_ALONG_K and B_ALONG_K, whether elements that are adjacent in memory are adjacent along K. A tile
// lies in threadgroup memory as its matrix does in memory, and is transposed when a simdgroup loads it.
#include "linear_algebra/products.metal"
#include "linear_algebra/simdgroup_tiles.metal"

#define THREADS (DOWN * ACROSS * SIMD_WIDTH)
#define OWN_M (TILE_M / DOWN)
#define OWN_N (TILE_N / ACROSS)
#define A_OUTER (A_ALONG_K ? TILE_M : STEP)
#define A_INNER (A_ALONG_K ? STEP : TILE_M)
#define B_OUTER (B_ALONG_K ? TILE_N : STEP)
#define B_INNER (B_ALONG_K ? STEP : TILE_N)
#define STRIP (SIDE * OWN_N)                // elements of the results of a row of 8 x 8 matrices
#define STRIP_ELEMENTS (STRIP / SIMD_WIDTH)  // of a lane

kernel void matmul_tiles(device const Stored* a [[buffer(0)]], device const Stored* b [[buffer(1)]], OPERAND_PARAMETERS,
                         constant Parameters& p [[buffer(30)]], GRID_PARAMETERS,
                         uint simd [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  const Operands operands = OPERANDS;
  FERRULE_THREADGROUP(float, a_tile, [A_OUTER * (A_INNER + PADDING)]);
  FERRULE_THREADGROUP(float, b_tile, [B_OUTER * (B_INNER + PADDING)]);
  static_assert(THREADS / SIMD_WIDTH * STRIP <= B_OUTER * (B_INNER + PADDING), "the strips fit into the tile of b");
  const uint segments = IS_SPLIT ? (p.k + SEGMENT - 1) / SEGMENT : 1;
  const ulong tiles_n = (p.n + TILE_N - 1) / TILE_N, tiles_m = (p.m + TILE_M - 1) / TILE_M;
  const ulong tile = group_number(group, groups);
  const ulong above_n = tile / tiles_n, above_m = above_n / tiles_m, batch = above_m / segments;
  if (batch >= p.batches) return;  // the whole threadgroup returns
  const uint first_n = uint(tile - above_n * tiles_n) * TILE_N, first_m = uint(above_n - above_m * tiles_m) * TILE_M;
  const uint segment = uint(above_m - batch * segments);
  const uint start = IS_SPLIT ? segment * SEGMENT : 0, stop = IS_SPLIT ? min(p.k, start + SEGMENT) : p.k;
  const uint own_m = simd / ACROSS * OWN_M, own_n = simd % ACROSS * OWN_N;  // the simdgroup's part of the tile

  simdgroup_float8x8 sums[OWN_M / SIDE][OWN_N / SIDE];
  float totals[OWN_M / SIDE][STRIP_ELEMENTS];
#pragma unroll
  for (uint i = 0; i < OWN_M / SIDE; ++i) {
#pragma unroll
    for (uint j = 0; j < OWN_N / SIDE; ++j) sums[i][j] = zeros();
#pragma unroll
    for (uint e = 0; e < STRIP_ELEMENTS; ++e) totals[i][e] = 0.0f;
  }
  // Results pass through a strip. Between steps the tile of b is free for it.
  threadgroup float* const strip = b_tile + simd * STRIP;
  const long a_start = offset_in(p.a_batches, batch) + long(first_m) * p.a_row;
  const long b_start = offset_in(p.b_batches, batch) + long(first_n) * p.b_column;

  for (uint first_k = start; first_k < stop; first_k += STEP) {
    const long a_first = a_start + long(first_k) * p.a_column, b_first = b_start + long(first_k) * p.b_row;
    const uint left = stop - first_k;
    if (A_ALONG_K)
      fill_tile<A_OUTER, A_INNER, THREADS>(a_tile, a, a_first, p.a_row, p.a_column, p.m - first_m, left, own);
    else
      fill_tile<A_OUTER, A_INNER, THREADS>(a_tile, a, a_first, p.a_column, p.a_row, left, p.m - first_m, own);
    if (B_ALONG_K)
      fill_tile<B_OUTER, B_INNER, THREADS>(b_tile, b, b_first, p.b_column, p.b_row, p.n - first_n, left, own);
    else
      fill_tile<B_OUTER, B_INNER, THREADS>(b_tile, b, b_first, p.b_row, p.b_column, left, p.n - first_n, own);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint k = 0; k < STEP; k += SIDE) {
      simdgroup_float8x8 columns[OWN_N / SIDE];
#pragma unroll
      for (uint j = 0; j < OWN_N / SIDE; ++j) {
        const uint n = own_n + j * SIDE;
        simdgroup_load(columns[j], b_tile + (B_ALONG_K ? n * (STEP + PADDING) + k : k * (TILE_N + PADDING) + n),
                       B_INNER + PADDING, ulong2(0, 0), B_ALONG_K);
      }
#pragma unroll
      for (uint i = 0; i < OWN_M / SIDE; ++i) {
        const uint m = own_m + i * SIDE;
        simdgroup_float8x8 rows;
        simdgroup_load(rows, a_tile + (A_ALONG_K ? m * (STEP + PADDING) + k : k * (TILE_M + PADDING) + m),
                       A_INNER + PADDING, ulong2(0, 0), !A_ALONG_K);
#pragma unroll
        for (uint j = 0; j < OWN_N / SIDE; ++j)
          simdgroup_multiply_accumulate(sums[i][j], rows, columns[j], sums[i][j]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (IS_SEGMENTED && !IS_SPLIT && (first_k + STEP) % SEGMENT == 0) {
#pragma unroll
      for (uint i = 0; i < OWN_M / SIDE; ++i) {
        store_strip(strip, sums[i]);
#pragma unroll
        for (uint j = 0; j < OWN_N / SIDE; ++j) sums[i][j] = zeros();
#pragma unroll
        for (uint e = 0; e < STRIP_ELEMENTS; ++e) totals[i][e] += strip[e * SIMD_WIDTH + lane];
        simdgroup_barrier(mem_flags::mem_threadgroup);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }

  const ulong part = IS_SPLIT ? segment * p.batches * p.m * p.n : 0;
#pragma unroll
  for (uint i = 0; i < OWN_M / SIDE; ++i) {
    store_strip(strip, sums[i]);
#pragma unroll
    for (uint e = 0; e < STRIP_ELEMENTS; ++e) {
      const uint at = e * SIMD_WIDTH + lane;
      const uint m = first_m + own_m + i * SIDE + at / OWN_N, n = first_n + own_n + at % OWN_N;
      const float sum = IS_SEGMENTED && !IS_SPLIT ? totals[i][e] + strip[at] : strip[at];
      const ulong element = batch * p.m * p.n + ulong(long(m) * p.to_row + long(n) * p.to_column);
      if (m < p.m && n < p.n) compute(operands, part + element, OUTCOME(sum));
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}
