// Matrix products through threadgroup memory. A threadgroup computes a tile of the result. Also defined in front: the
// sizes of a tile, TILE_M and TILE_N, and of the part that one thread computes, OWN_M and OWN_N; A_ALONG_K and
// B_ALONG_K, whether elements that are adjacent in memory are adjacent along K.
#include "linear_algebra/products.metal"

#define ACROSS (TILE_N / OWN_N)
#define DOWN (TILE_M / OWN_M)
#define THREADS (ACROSS * DOWN)

kernel void matmul(device const Stored* a [[buffer(0)]], device const Stored* b [[buffer(1)]], OPERAND_PARAMETERS,
                   constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  // One extra column, so that threads that write along K do not conflict in one bank.
  FERRULE_THREADGROUP(Value, a_tile, [STEP * (TILE_M + 1)]);
  FERRULE_THREADGROUP(Value, b_tile, [STEP * (TILE_N + 1)]);
  const uint segments = IS_SPLIT ? (p.k + SEGMENT - 1) / SEGMENT : 1;
  const ulong tiles_n = (p.n + TILE_N - 1) / TILE_N, tiles_m = (p.m + TILE_M - 1) / TILE_M;
  const ulong tile = group_number(group, groups);
  const ulong above_n = tile / tiles_n, above_m = above_n / tiles_m, batch = above_m / segments;
  if (batch >= p.batches) return;  // the whole threadgroup returns
  const uint first_n = uint(tile - above_n * tiles_n) * TILE_N, first_m = uint(above_n - above_m * tiles_m) * TILE_M;
  const uint segment = uint(above_m - batch * segments);
  const long a_start = offset_in(p.a_batches, batch), b_start = offset_in(p.b_batches, batch);

  // The elements of a thread are as far apart as there are threads in that direction.
  const uint own_n = own % ACROSS, own_m = own / ACROSS;
  Value sums[OWN_M][OWN_N], totals[OWN_M][OWN_N];
  for (uint i = 0; i < OWN_M; ++i)
    for (uint j = 0; j < OWN_N; ++j) sums[i][j] = totals[i][j] = 0;

  const uint start = IS_SPLIT ? segment * SEGMENT : 0, stop = IS_SPLIT ? min(p.k, start + SEGMENT) : p.k;
  for (uint first_k = start; first_k < stop; first_k += STEP) {
    for (uint i = own; i < STEP * TILE_M; i += THREADS) {
      const uint along = A_ALONG_K ? i % STEP : i / TILE_M, row = A_ALONG_K ? i / STEP : i % TILE_M;
      const uint m = first_m + row, k = first_k + along;
      a_tile[along * (TILE_M + 1) + row] =
          m < p.m && k < stop ? value_at(a, a_start, m, p.a_row, k, p.a_column) : Value(0);
    }
    for (uint i = own; i < STEP * TILE_N; i += THREADS) {
      const uint along = B_ALONG_K ? i % STEP : i / TILE_N, column = B_ALONG_K ? i / STEP : i % TILE_N;
      const uint n = first_n + column, k = first_k + along;
      b_tile[along * (TILE_N + 1) + column] =
          n < p.n && k < stop ? value_at(b, b_start, k, p.b_row, n, p.b_column) : Value(0);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint along = 0; along < STEP; ++along) {
      Value rows[OWN_M], columns[OWN_N];
      for (uint i = 0; i < OWN_M; ++i) rows[i] = a_tile[along * (TILE_M + 1) + own_m + i * DOWN];
      for (uint j = 0; j < OWN_N; ++j) columns[j] = b_tile[along * (TILE_N + 1) + own_n + j * ACROSS];
      for (uint i = 0; i < OWN_M; ++i)
        for (uint j = 0; j < OWN_N; ++j) sums[i][j] = multiplied_and_added(rows[i], columns[j], sums[i][j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (IS_SEGMENTED && !IS_SPLIT && (first_k + STEP) % SEGMENT == 0)
      for (uint i = 0; i < OWN_M; ++i)
        for (uint j = 0; j < OWN_N; ++j) {
          totals[i][j] += sums[i][j];
          sums[i][j] = 0;
        }
  }

  const ulong part = IS_SPLIT ? segment * p.batches * p.m * p.n : 0;
  for (uint i = 0; i < OWN_M; ++i)
    for (uint j = 0; j < OWN_N; ++j) {
      const uint m = first_m + own_m + i * DOWN, n = first_n + own_n + j * ACROSS;
      if (m >= p.m || n >= p.n) continue;
      const ulong element = batch * p.m * p.n + ulong(long(m) * p.to_row + long(n) * p.to_column);
      compute(operands, part + element, OUTCOME(IS_SEGMENTED && !IS_SPLIT ? totals[i][j] + sums[i][j] : sums[i][j]));
    }
}
