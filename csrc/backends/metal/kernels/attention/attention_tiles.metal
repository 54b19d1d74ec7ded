// Attention as in attention.metal, with scores and values by 8 x 8 products of simdgroups. Also defined in front:
// QUERIES: 8, 16 or 32.
//
// The four simdgroups stand in DOWN rows, of 8 queries each, and share a block of keys, and then of elements of values,
// ACROSS a row. Sums of values stay in matrices over the blocks of a chunk. A row of them is multiplied only where the
// greatest score has grown: elsewhere the factor is 1. It passes through a strip, because a product with a diagonal
// matrix would spread infinities as NaN.
#pragma once
#include "attention/attention_block.metal"
#include "linear_algebra/simdgroup_tiles.metal"

#define SIMDGROUPS 4
#define THREADS (BLOCK * SIMDGROUPS)
#define DOWN (QUERIES / SIDE)
#define ACROSS (SIMDGROUPS / DOWN)
#define OWN_COLUMNS (BLOCK / ACROSS)
#define MATRICES (OWN_COLUMNS / SIDE)
#define OWN_ROWS (QUERIES / SIMDGROUPS)  // whose scores a simdgroup turns into weights
#define WIDTH (BLOCK + PADDING)
#define QUERY_WIDTH (HEAD + PADDING)
#define STRIP (SIDE * OWN_COLUMNS)  // elements of a simdgroup's part of a piece
#define STRIP_ELEMENTS (STRIP / BLOCK)

kernel void attention_tiles(device const Stored* query [[buffer(0)]], device const Stored* key [[buffer(1)]],
                            device const Stored* value [[buffer(2)]], MASK_PARAMETER LENGTH_PARAMETER RESULT_PARAMETER,
                            device Fault* fault [[buffer(29)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS,
                            uint simd [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  FERRULE_THREADGROUP(float, query_tile, [QUERIES * QUERY_WIDTH]);
  FERRULE_THREADGROUP(float, tile, [BLOCK * WIDTH]);
  FERRULE_THREADGROUP(float, weights, [QUERIES * WIDTH]);
  FERRULE_THREADGROUP(float, row_factors, [2 * QUERIES]);  // of the state before, and of a chunk
  uint keys;
  if (!FIND_KEYS(keys)) {
    if (own == 0) report_fault(fault, fault_length, p.result, GIVEN_LENGTH, p.keys, 0);
    return;
  }
  const ulong blocks = (p.queries + QUERIES - 1) / QUERIES, unit = group_number(group, groups);
  const ulong above = IS_SPLIT ? unit / p.chunks : unit, batch = above / blocks;
  if (batch >= p.batches) return;  // the whole threadgroup returns
  const uint first_query = uint(above - batch * blocks) * QUERIES;
  const long query_start = offset_in(p.query_batches, batch) + long(first_query) * p.query_row;
  const long key_start = offset_in(p.key_batches, batch), value_start = offset_in(p.value_batches, batch);
#if MASK
  const long mask_start = offset_in(p.mask_batches, batch);
#endif
  const uint tile_row = simd / ACROSS * SIDE, tile_column = simd % ACROSS * OWN_COLUMNS, first_row = simd * OWN_ROWS;
  threadgroup float* const strip = tile + simd * STRIP;

  for (uint i = own; i < QUERIES * HEAD; i += THREADS) {
    const uint row = i / HEAD, c = i % HEAD;
    query_tile[row * QUERY_WIDTH + c] =
        first_query + row < p.queries && c < p.head
            ? tile_element(query, query_start + long(row) * p.query_row + long(c) * p.query_column)
            : 0.0f;
  }
  // The state of a chunk, and of those before it.
  RowState states[OWN_ROWS], all_states[OWN_ROWS];
  simdgroup_float8x8 sums[PIECES][MATRICES];
  float all_sums[PIECES][STRIP_ELEMENTS];
  for (uint i = 0; i < OWN_ROWS; ++i) states[i] = all_states[i] = empty_row();
#pragma unroll
  for (uint piece = 0; piece < PIECES; ++piece) {
#pragma unroll
    for (uint j = 0; j < MATRICES; ++j) sums[piece][j] = zeros();
#pragma unroll
    for (uint e = 0; e < STRIP_ELEMENTS; ++e) all_sums[piece][e] = 0.0f;
  }

  // Query i keeps keys up to i + ahead.
  const int ahead = int(keys) - int(p.queries);
  const uint last = IS_CAUSAL ? uint(clamp(long(first_query) + QUERIES + ahead, long(0), long(keys))) : keys;
  const uint start = IS_SPLIT ? uint(unit - above * p.chunks) * CHUNK : 0;
  const uint stop = IS_SPLIT ? min(last, start + CHUNK) : last;
  for (uint first_key = start; first_key < stop; first_key += BLOCK) {
    simdgroup_float8x8 scores[MATRICES];
#pragma unroll
    for (uint j = 0; j < MATRICES; ++j) scores[j] = zeros();
    for (uint first = 0; first < HEAD; first += BLOCK) {
      const long at = key_start + long(first_key) * p.key_row + long(first) * p.key_column;
      fill_tile<BLOCK, BLOCK, THREADS>(tile, key, at, p.key_row, p.key_column, keys - first_key,
                                       p.head > first ? p.head - first : 0, own);
      threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
      for (uint d = 0; d < BLOCK; d += SIDE) {
        simdgroup_float8x8 rows;
        simdgroup_load(rows, query_tile + tile_row * QUERY_WIDTH + first + d, QUERY_WIDTH);
#pragma unroll
        for (uint j = 0; j < MATRICES; ++j) {
          simdgroup_float8x8 columns;
          simdgroup_load(columns, tile + (tile_column + j * SIDE) * WIDTH + d, WIDTH, ulong2(0, 0), true);
          simdgroup_multiply_accumulate(scores[j], rows, columns, scores[j]);
        }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
#pragma unroll
    for (uint j = 0; j < MATRICES; ++j)
      simdgroup_store(scores[j], weights + tile_row * WIDTH + tile_column + j * SIDE, WIDTH);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const uint j = first_key + lane;
    for (uint i = 0; i < OWN_ROWS; ++i) {
      const uint row = first_row + i, q = first_query + row;
      const bool kept = j < keys && q < p.queries && (!IS_CAUSAL || long(j) <= long(q) + ahead);
      const float score = kept ? masked_score(weights[row * WIDTH + lane] * p.scale, MASK_AT(q, j)) : lowest();
      float factor;
      weights[row * WIDTH + lane] = weight_of(score, states[i], factor);
      if (lane == 0) row_factors[row] = factor;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simd_any(row_factors[tile_row + lane % SIDE] != 1.0f)) {
#pragma unroll
      for (uint piece = 0; piece < PIECES; ++piece) {
        store_strip(strip, sums[piece]);
#pragma unroll
        for (uint e = 0; e < STRIP_ELEMENTS; ++e) {
          const uint at = e * BLOCK + lane;
          strip[at] *= row_factors[tile_row + at / OWN_COLUMNS];
        }
        load_strip(sums[piece], strip);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);  // the strips are in the tile

#pragma unroll
    for (uint piece = 0; piece < PIECES; ++piece) {
      const uint first = piece * BLOCK;
      const long at = value_start + long(first_key) * p.value_row + long(first) * p.value_column;
      fill_tile<BLOCK, BLOCK, THREADS>(tile, value, at, p.value_row, p.value_column, keys - first_key,
                                       p.value_head > first ? p.value_head - first : 0, own);
      threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
      for (uint k = 0; k < BLOCK; k += SIDE) {
        simdgroup_float8x8 rows;
        simdgroup_load(rows, weights + tile_row * WIDTH + k, WIDTH);
#pragma unroll
        for (uint m = 0; m < MATRICES; ++m) {
          simdgroup_float8x8 columns;
          simdgroup_load(columns, tile + k * WIDTH + tile_column + m * SIDE, WIDTH);
          simdgroup_multiply_accumulate(sums[piece][m], rows, columns, sums[piece][m]);
        }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (IS_CHUNKED && !IS_SPLIT && ((first_key + BLOCK) % CHUNK == 0 || first_key + BLOCK >= stop)) {
      for (uint i = 0; i < OWN_ROWS; ++i) {
        const MergeFactors merge = merged(all_states[i], states[i]);
        states[i] = empty_row();
        if (lane != 0) continue;
        row_factors[first_row + i] = merge.of_before;
        row_factors[QUERIES + first_row + i] = merge.of_chunk;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
      for (uint piece = 0; piece < PIECES; ++piece) {
        store_strip(strip, sums[piece]);
#pragma unroll
        for (uint e = 0; e < STRIP_ELEMENTS; ++e) {
          const uint at = e * BLOCK + lane, row = tile_row + at / OWN_COLUMNS;
          all_sums[piece][e] = all_sums[piece][e] * row_factors[row] + strip[at] * row_factors[QUERIES + row];
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint m = 0; m < MATRICES; ++m) sums[piece][m] = zeros();
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);  // the strips are in the tile
    }
  }

  // The last use of row_factors: the states that results need.
  for (uint i = 0; i < OWN_ROWS; ++i) {
    const RowState state = IS_CHUNKED && !IS_SPLIT ? all_states[i] : states[i];
    if (lane != 0) continue;
    row_factors[first_row + i] = state.greatest;
    row_factors[QUERIES + first_row + i] = state.total;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint piece = 0; piece < PIECES; ++piece) {
    store_strip(strip, sums[piece]);
#pragma unroll
    for (uint e = 0; e < STRIP_ELEMENTS; ++e) {
      const uint at = e * BLOCK + lane, row = tile_row + at / OWN_COLUMNS;
      const uint q = first_query + row, c = piece * BLOCK + tile_column + at % OWN_COLUMNS;
      if (q >= p.queries || c >= p.value_head) continue;
      const ulong place = batch * p.queries + q;
      const float greatest = row_factors[row], total = row_factors[QUERIES + row];
#if IS_SPLIT
      device float* const part =
          parts + ((unit - above * p.chunks) * p.batches * p.queries + place) * (p.value_head + 2);
      part[c] = strip[at];
      if (c == 0) {
        part[p.value_head] = greatest;
        part[p.value_head + 1] = total;
      }
#else
      const float sum = IS_CHUNKED ? all_sums[piece][e] : strip[at];
      store_element(to, long(place * p.value_head + c), result_of(sum, total, greatest));
#endif
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}
