// Scaled dot-product attention of a block of queries, in one pass over blocks of 32 keys with a running maximum and sum
// (Milakov & Gimelshein 2018; Dao 2022). A whole row of scores is never stored.
//
// The text in front defines QUERIES, a multiple of ROWS, as well.
#pragma once
#include "attention/attention_block.metal"

#define ROWS 4  // queries that the simdgroups process in parallel
#define THREADS (BLOCK * ROWS)
#define OWN_ROWS (QUERIES / ROWS)

// Element (i, j) of the tile is element (first_row + i, first_column + j) of a matrix, or zero outside the matrix.
inline void fill_tile(threadgroup float* tile, device const Stored* from, long start, uint first_row, uint rows,
                      long row, uint first_column, uint columns, long column, uint own) {
  for (uint i = own; i < BLOCK * BLOCK; i += THREADS) {
    const uint r = first_row + i / BLOCK, c = first_column + i % BLOCK;
    tile[i / BLOCK * (BLOCK + 1) + i % BLOCK] =
        r < rows && c < columns ? element_at(from, start + long(r) * row + long(c) * column) : 0.0f;
  }
}

kernel void attention(device const Stored* query [[buffer(0)]], device const Stored* key [[buffer(1)]],
                      device const Stored* value [[buffer(2)]], MASK_PARAMETER LENGTH_PARAMETER RESULT_PARAMETER,
                      device Fault* fault [[buffer(29)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  FERRULE_THREADGROUP(float, query_tile, [QUERIES * HEAD + 1]);
  FERRULE_THREADGROUP(float, tile, [BLOCK * (BLOCK + 1)]);
  FERRULE_THREADGROUP(float, weights, [QUERIES * BLOCK]);
  uint keys;
  if (!FIND_KEYS(keys)) {
    if (own == 0) report_fault(fault, fault_length, p.result, GIVEN_LENGTH, p.keys, 0);
    return;
  }
  const uint column = own % BLOCK, first_row = own / BLOCK;
  const ulong blocks = (p.queries + QUERIES - 1) / QUERIES, unit = group_number(group, groups);
  const ulong above = IS_SPLIT ? unit / p.chunks : unit, batch = above / blocks;
  if (batch >= p.batches) return;  // the whole threadgroup returns
  const uint first_query = uint(above - batch * blocks) * QUERIES;
  const long query_start = offset_in(p.query_batches, batch), key_start = offset_in(p.key_batches, batch);
  const long value_start = offset_in(p.value_batches, batch);
#if MASK
  const long mask_start = offset_in(p.mask_batches, batch);
#endif

  for (uint i = own; i < QUERIES * HEAD; i += THREADS) {
    const uint row = first_query + i / HEAD, c = i % HEAD;
    query_tile[i] = row < p.queries && c < p.head
                        ? element_at(query, query_start + long(row) * p.query_row + long(c) * p.query_column)
                        : 0.0f;
  }
  // The state of a chunk, and of those before it.
  RowState states[OWN_ROWS], all_states[OWN_ROWS];
  float sums[PIECES * OWN_ROWS], all_sums[PIECES * OWN_ROWS];
  for (uint i = 0; i < OWN_ROWS; ++i) states[i] = all_states[i] = empty_row();
  for (uint i = 0; i < PIECES * OWN_ROWS; ++i) sums[i] = all_sums[i] = 0.0f;

  // Query i keeps keys up to i + ahead.
  const int ahead = int(keys) - int(p.queries);
  const uint last = IS_CAUSAL ? uint(clamp(long(first_query) + QUERIES + ahead, long(0), long(keys))) : keys;
  const uint start = IS_SPLIT ? uint(unit - above * p.chunks) * CHUNK : 0;
  const uint stop = IS_SPLIT ? min(last, start + CHUNK) : last;
  for (uint first_key = start; first_key < stop; first_key += BLOCK) {
    float scores[OWN_ROWS], factors[OWN_ROWS];
    for (uint i = 0; i < OWN_ROWS; ++i) scores[i] = 0.0f;
    for (uint first = 0; first < HEAD; first += BLOCK) {
      fill_tile(tile, key, key_start, first_key, keys, p.key_row, first, p.head, p.key_column, own);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint d = 0; d < BLOCK; ++d) {
        const float k = tile[column * (BLOCK + 1) + d];
        for (uint i = 0; i < OWN_ROWS; ++i)
          scores[i] = fma(query_tile[(first_row + i * ROWS) * HEAD + first + d], k, scores[i]);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    const uint j = first_key + column;
    for (uint i = 0; i < OWN_ROWS; ++i) {
      const uint row = first_row + i * ROWS, q = first_query + row;
      const bool kept = j < keys && q < p.queries && (!IS_CAUSAL || long(j) <= long(q) + ahead);
      const float score = kept ? masked_score(scores[i] * p.scale, MASK_AT(q, j)) : lowest();
      weights[row * BLOCK + column] = weight_of(score, states[i], factors[i]);
    }
    for (uint piece = 0; piece < PIECES; ++piece) {
      fill_tile(tile, value, value_start, first_key, keys, p.value_row, piece * BLOCK, p.value_head, p.value_column,
                own);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint i = 0; i < OWN_ROWS; ++i) {
        float sum = sums[piece * OWN_ROWS + i] * factors[i];
        for (uint k = 0; k < BLOCK; ++k)
          sum = fma(weights[(first_row + i * ROWS) * BLOCK + k], tile[k * (BLOCK + 1) + column], sum);
        sums[piece * OWN_ROWS + i] = sum;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (IS_CHUNKED && !IS_SPLIT && ((first_key + BLOCK) % CHUNK == 0 || first_key + BLOCK >= stop)) {
      for (uint i = 0; i < OWN_ROWS; ++i) {
        const MergeFactors merge = merged(all_states[i], states[i]);
        for (uint piece = 0; piece < PIECES; ++piece) {
          const uint at = piece * OWN_ROWS + i;
          all_sums[at] = all_sums[at] * merge.of_before + sums[at] * merge.of_chunk;
          sums[at] = 0.0f;
        }
        states[i] = empty_row();
      }
    }
  }

  for (uint i = 0; i < OWN_ROWS; ++i) {
    const uint q = first_query + first_row + i * ROWS;
    if (q >= p.queries) continue;
    const ulong row = batch * p.queries + q;
#if IS_SPLIT
    const ulong place = ((unit - above * p.chunks) * p.batches * p.queries + row) * (p.value_head + 2);
    if (column == 0) {
      parts[place + p.value_head] = states[i].greatest;
      parts[place + p.value_head + 1] = states[i].total;
    }
#endif
    for (uint piece = 0; piece < PIECES; ++piece) {
      const uint c = piece * BLOCK + column, at = piece * OWN_ROWS + i;
      if (c >= p.value_head) continue;
#if IS_SPLIT
      parts[place + c] = sums[at];
#else
      const RowState state = IS_CHUNKED ? all_states[i] : states[i];
      const float result = result_of(IS_CHUNKED ? all_sums[at] : sums[at], state.total, state.greatest);
      store_element(to, long(row * p.value_head + c), result);
#endif
    }
  }
}
