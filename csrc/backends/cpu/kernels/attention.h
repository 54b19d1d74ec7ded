// Scaled dot-product attention of one head and one block of queries: softmax(q k^T * scale + mask) v. It goes over
// blocks of keys with a running maximum and sum (Milakov & Gimelshein 2018; Dao 2022), and never stores a whole row of
// scores.
//
// Blocks always have 128 keys, so the bits of a query's result depend only on the query and its keys.
#pragma once

#include "gemm.h"
#include "row_operations.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t max_head = 256;  // elements of a query, key or value
constexpr int64_t key_block = 128;
constexpr int64_t query_tiles = 10;

template <class T>
constexpr int64_t query_block = query_tiles* Tile<T>::rows;

template <class T>
struct Head {
  const T *q, *k, *v;
  T* out;
  int64_t q_row, k_row, v_row, out_row;  // strides of sequence positions; elements of a position are contiguous
  int64_t queries, keys, head, value_head;
  T scale;
  const T* mask;           // added to the scores; null: none
  const uint8_t* allowed;  // scores count where it is not 0; null: all count
  int64_t mask_row, mask_column;
  bool causal;  // query i sees keys up to i + causal_offset
  int64_t causal_offset;
};

// The memory in which a thread computes a block of queries.
template <class T>
struct QueryBlock {
  int64_t q_tile;  // elements from one tile of packed queries to the next
  T *q, *panel, *scores, *packed, *sums, *maximum, *total;

  QueryBlock(ScratchArena& scratch, int64_t head, int64_t value_head)
      : q_tile(Tile<T>::rows * head),
        q(scratch.array<T>(query_tiles * q_tile)),
        panel(scratch.array<T>(Tile<T>::columns * larger(head, key_block))),
        scores(scratch.array<T>(query_block<T> * key_block)),
        packed(scratch.array<T>(Tile<T>::rows * key_block)),
        sums(scratch.array<T>(query_block<T> * round_up(value_head, Tile<T>::columns))),
        maximum(scratch.array<T>(query_block<T>)),
        total(scratch.array<T>(query_block<T>)) {}
};

template <class T>
HWY_NOINLINE void scores_of_block(const Head<T>& h, const QueryBlock<T>& w, int64_t rows, int64_t first_key,
                                  int64_t keys) {
  constexpr int64_t columns = Tile<T>::columns;
  const int64_t tall = even_rows<T>(rows);
  for (int64_t j = 0; j < keys; j += columns) {
    const int64_t width = smaller(columns, keys - j);
    pack<T, true>(h.k + (first_key + j) * h.k_row, h.k_row, int64_t{1}, width, h.head, w.panel, columns);
    for (int64_t row = 0, t = 0; row < rows; row += tall, ++t)
      tile_for<T, false>(smaller(tall, rows - row))(w.q + t * w.q_tile, w.panel, columns, h.head,
                                                    w.scores + row * key_block + j, key_block, width);
  }
}

// Scales and masks the scores of one row.
template <class T>
HWY_NOINLINE void mask_row(const Head<T>& h, T* scores, int64_t query, int64_t first_key, int64_t keys) {
  for (int64_t j = 0; j < keys; ++j) scores[j] *= h.scale;
  if (h.mask != nullptr) {
    const T* mask = h.mask + query * h.mask_row + first_key * h.mask_column;
    for (int64_t j = 0; j < keys; ++j) scores[j] += mask[j * h.mask_column];
  }
  if (h.allowed != nullptr) {
    const uint8_t* allowed = h.allowed + query * h.mask_row + first_key * h.mask_column;
    for (int64_t j = 0; j < keys; ++j)
      scores[j] = allowed[j * h.mask_column] != 0 ? scores[j] : static_cast<T>(-HUGE_VAL);
  }
  if (h.causal)
    for (int64_t j = larger(0, query + h.causal_offset + 1 - first_key); j < keys; ++j)
      scores[j] = static_cast<T>(-HUGE_VAL);
}

template <class T>
HWY_NOINLINE void attend(const Head<T>& h, const QueryBlock<T>& w, int64_t first_query) {
  constexpr int64_t columns = Tile<T>::columns, tile_rows = Tile<T>::rows;
  const T lowest_score = static_cast<T>(-HUGE_VAL);
  const int64_t sums_row = round_up(h.value_head, columns);  // compact: rows far apart share few cache sets
  const int64_t rows = smaller(query_block<T>, h.queries - first_query), tall = even_rows<T>(rows);
  for (int64_t row = 0, t = 0; row < rows; row += tall, ++t)
    pack<T, false>(h.q + (first_query + row) * h.q_row, h.q_row, int64_t{1}, smaller(tall, rows - row), h.head,
                   w.q + t * w.q_tile, tile_rows);
  for (int64_t row = 0; row < rows; ++row) {
    w.maximum[row] = lowest_score;
    w.total[row] = T(0);
    for (int64_t c = 0; c < h.value_head; ++c) w.sums[row * sums_row + c] = T(0);
  }
  const int64_t last_key = h.causal ? smaller(h.keys, larger(0, first_query + rows + h.causal_offset)) : h.keys;
  for (int64_t first_key = 0; first_key < last_key; first_key += key_block) {
    const int64_t keys = smaller(key_block, h.keys - first_key);
    scores_of_block(h, w, rows, first_key, keys);
    for (int64_t row = 0; row < rows; ++row) {
      T* scores = w.scores + row * key_block;
      mask_row(h, scores, first_query + row, first_key, keys);
      const T maximum = MaxOfNumbers::combine(w.maximum[row], reduce_block<MaxOfNumbers, T>(scores, keys));
      // No key is allowed so far: all scores are -inf, and their difference to the maximum would be NaN.
      const T shift = maximum == lowest_score ? T(0) : maximum;
      const T sum = exp_and_sum(scores, keys, shift, scores);
      const T before = w.maximum[row];
      w.maximum[row] = maximum;
      if (before == maximum) {
        w.total[row] += sum;
        continue;
      }
      const T factor = before == lowest_score ? T(0) : static_cast<T>(::exp(static_cast<double>(before - maximum)));
      w.total[row] = w.total[row] * factor + sum;
      T* sums = w.sums + row * sums_row;
      for (int64_t c = 0; c < h.value_head; ++c) sums[c] *= factor;
    }
    for (int64_t row = 0; row < rows; row += tall) {
      const int64_t n = smaller(tall, rows - row);
      pack<T, false>(w.scores + row * key_block, key_block, int64_t{1}, n, keys, w.packed, tile_rows);
      const auto tile = tile_for<T, true>(n);
      for (int64_t c = 0; c < h.value_head; c += columns) {
        const int64_t width = smaller(columns, h.value_head - c);
        const T* v = h.v + first_key * h.v_row + c;
        int64_t ldb = h.v_row;
        if (width < columns) {
          pack<T, true>(v, int64_t{1}, h.v_row, width, keys, w.panel, columns);
          v = w.panel;
          ldb = columns;
        }
        tile(w.packed, v, ldb, keys, w.sums + row * sums_row + c, sums_row, width);
      }
    }
  }
  // A query with no allowed key gives zeros.
  for (int64_t row = 0; row < rows; ++row)
    scale_row(w.sums + row * sums_row, h.value_head, w.maximum[row] == lowest_score ? T(0) : T(1) / w.total[row],
              h.out + (first_query + row) * h.out_row);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
