// Scaled dot-product attention of one head and one block of queries: softmax(q k^T * scale + mask) v. It goes over
// blocks of keys with a running maximum and sum (Milakov & Gimelshein 2018; Dao 2022), and never stores a whole row of
// scores.
//
// Halves are computed in float32, a block at a time, and rounded once. Blocks always have 128 keys, so the bits of a
// query's result depend only on the query and its keys.
#pragma once

#include "gemm.h"
#include "half.h"
#include "row_operations.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t max_head = 256;  // elements of a query, key or value
constexpr int64_t key_block = 128;
constexpr int64_t query_tiles = 10;

template <class T>
constexpr int64_t query_block = query_tiles* Tile<Computed<T>>::rows;

template <class T>
struct Head {
  const T *q, *k, *v;
  T* out;
  int64_t q_row, k_row, v_row, out_row;  // strides of sequence positions; elements of a position are contiguous
  int64_t queries, keys, head, value_head;
  // Scores are products with the queries times a power of two, which stay in range where scaled products do, times the
  // rest of the scale.
  Computed<T> query_scale, scale;
  const T* mask;           // added to the scores; null: none
  const uint8_t* allowed;  // scores count where it is not 0; null: all count
  int64_t mask_row, mask_column;
  bool causal;  // query i sees keys up to i + causal_offset
  int64_t causal_offset;
};

// The memory in which a thread computes a block of queries.
template <class T>
struct QueryBlock {
  using Number = Computed<T>;
  int64_t q_tile;  // elements from one tile of packed queries to the next
  Number *q, *panel, *scores, *packed, *sums, *maximum, *total, *wide;

  QueryBlock(ScratchArena& scratch, int64_t head, int64_t value_head)
      : q_tile(Tile<Number>::rows * head),
        q(scratch.array<Number>(query_tiles * q_tile)),
        panel(scratch.array<Number>(Tile<Number>::columns * larger(head, key_block))),
        scores(scratch.array<Number>(query_block<T> * key_block)),
        packed(scratch.array<Number>(Tile<Number>::rows * key_block)),
        sums(scratch.array<Number>(query_block<T> * round_up(value_head, Tile<Number>::columns))),
        maximum(scratch.array<Number>(query_block<T>)),
        total(scratch.array<Number>(query_block<T>)),
        wide(scratch.array<Number>(is_converted<T> ? key_block * larger(head, value_head) : 0)) {}
};

template <class T>
struct Rows {
  const T* at;
  int64_t stride;
};
// Rows in the type they are computed in: `from` itself, or converted into `buffer`.
template <class T>
Rows<Computed<T>> computed_rows(const T* from, int64_t stride, int64_t rows, int64_t width, Computed<T>* buffer) {
  if constexpr (is_converted<T>) {
    for (int64_t i = 0; i < rows; ++i) widen_all(from + i * stride, width, buffer + i * width);
    return {buffer, width};
  } else {
    return {from, stride};
  }
}

template <class T>
HWY_NOINLINE void scores_of_block(const Head<T>& h, const QueryBlock<T>& w, int64_t rows, int64_t first_key,
                                  int64_t keys) {
  using Number = Computed<T>;
  constexpr int64_t columns = Tile<Number>::columns;
  const int64_t tall = even_rows<Number>(rows);
  const Rows<Number> k = computed_rows(h.k + first_key * h.k_row, h.k_row, keys, h.head, w.wide);
  for (int64_t j = 0; j < keys; j += columns) {
    const int64_t width = smaller(columns, keys - j);
    pack<Number, true>(k.at + j * k.stride, k.stride, int64_t{1}, width, h.head, w.panel, columns);
    for (int64_t row = 0, t = 0; row < rows; row += tall, ++t)
      tile_for<Number, false>(smaller(tall, rows - row))(w.q + t * w.q_tile, w.panel, columns, h.head,
                                                         w.scores + row * key_block + j, key_block, width);
  }
}

// Scales and masks the scores of one row.
template <class T>
HWY_NOINLINE void mask_row(const Head<T>& h, Computed<T>* scores, int64_t query, int64_t first_key, int64_t keys) {
  constexpr auto lowest_score = static_cast<Computed<T>>(-HUGE_VAL);
  if (h.scale != 1) scale_row(scores, keys, h.scale, scores);
  if (h.mask != nullptr) {
    Computed<T> number;
    const T* mask = h.mask + query * h.mask_row + first_key * h.mask_column;
    for (int64_t j = 0; j < keys; ++j) scores[j] += *computed(mask + j * h.mask_column, 1, &number);
  }
  if (h.allowed != nullptr) {
    const uint8_t* allowed = h.allowed + query * h.mask_row + first_key * h.mask_column;
    for (int64_t j = 0; j < keys; ++j) scores[j] = allowed[j * h.mask_column] != 0 ? scores[j] : lowest_score;
  }
  if (h.causal)
    for (int64_t j = larger(0, query + h.causal_offset + 1 - first_key); j < keys; ++j) scores[j] = lowest_score;
}

template <class T>
bool are_finite(const T* x, int64_t count) {
  const Full<T> d;
  auto zeros = hn::Zero(d);
  for_vectors<T>(x, count, T(0), [&](auto v, int64_t, int64_t) { zeros = hn::MulAdd(v, hn::Zero(d), zeros); });
  return fold_lanes<Sum, T>(d, zeros) == 0;
}

// Writes x * factor over those elements of y that are not finite.
template <class T>
void replace_infinite(const Computed<T>* x, int64_t count, Computed<T> factor, T* y) {
  for (int64_t i = 0; i < count; ++i) {
    Computed<T> number;
    const Computed<T> before = *computed(y + i, 1, &number);
    if (before - before == 0) continue;
    const Computed<T> after = x[i] * factor;
    if constexpr (is_converted<T>)
      narrow_all(&after, 1, y + i);
    else
      y[i] = after;
  }
}

// Returns whether all sums are finite. `factor_of_weights` is 1, or a power of two with which sums stay in range: then
// only results that are not finite are written.
template <class T>
HWY_NOINLINE bool attend(const Head<T>& h, const QueryBlock<T>& w, int64_t first_query, Computed<T> factor_of_weights) {
  using Number = Computed<T>;
  constexpr int64_t columns = Tile<Number>::columns, tile_rows = Tile<Number>::rows;
  constexpr auto lowest_score = static_cast<Number>(-HUGE_VAL);
  const int64_t sums_row = round_up(h.value_head, columns);  // compact: rows far apart share few cache sets
  const int64_t rows = smaller(query_block<T>, h.queries - first_query), tall = even_rows<Number>(rows);
  for (int64_t row = 0, t = 0; row < rows; row += tall, ++t) {
    const int64_t n = smaller(tall, rows - row);
    const Rows<Number> q = computed_rows(h.q + (first_query + row) * h.q_row, h.q_row, n, h.head, w.wide);
    Number* const tile = w.q + t * w.q_tile;
    pack<Number, false>(q.at, q.stride, int64_t{1}, n, h.head, tile, tile_rows);
    scale_row(tile, h.head * tile_rows, h.query_scale, tile);
  }
  for (int64_t row = 0; row < rows; ++row) {
    w.maximum[row] = lowest_score;
    w.total[row] = 0;
    for (int64_t c = 0; c < h.value_head; ++c) w.sums[row * sums_row + c] = 0;
  }
  const int64_t last_key = h.causal ? smaller(h.keys, larger(0, first_query + rows + h.causal_offset)) : h.keys;
  for (int64_t first_key = 0; first_key < last_key; first_key += key_block) {
    const int64_t keys = smaller(key_block, h.keys - first_key);
    scores_of_block(h, w, rows, first_key, keys);
    for (int64_t row = 0; row < rows; ++row) {
      Number* scores = w.scores + row * key_block;
      mask_row(h, scores, first_query + row, first_key, keys);
      const Number maximum = MaxOfNumbers::combine(w.maximum[row], reduce_block<MaxOfNumbers, Number>(scores, keys));
      // No key is allowed so far: all scores are -inf, and their difference to the maximum would be NaN.
      const Number shift = maximum == lowest_score ? 0 : maximum;
      const Number sum = exp_and_sum(scores, keys, shift, scores);
      if (factor_of_weights != 1) scale_row(scores, keys, factor_of_weights, scores);
      const Number before = w.maximum[row];
      w.maximum[row] = maximum;
      if (before == maximum) {
        w.total[row] += sum;
        continue;
      }
      const Number factor =
          before == lowest_score ? 0 : static_cast<Number>(::exp(static_cast<double>(before - maximum)));
      w.total[row] = w.total[row] * factor + sum;
      Number* sums = w.sums + row * sums_row;
      for (int64_t c = 0; c < h.value_head; ++c) sums[c] *= factor;
    }
    const Rows<Number> values = computed_rows(h.v + first_key * h.v_row, h.v_row, keys, h.value_head, w.wide);
    for (int64_t row = 0; row < rows; row += tall) {
      const int64_t n = smaller(tall, rows - row);
      pack<Number, false>(w.scores + row * key_block, key_block, int64_t{1}, n, keys, w.packed, tile_rows);
      const auto tile = tile_for<Number, true>(n);
      for (int64_t c = 0; c < h.value_head; c += columns) {
        const int64_t width = smaller(columns, h.value_head - c);
        const Number* v = values.at + c;
        int64_t ldb = values.stride;
        if (width < columns) {
          pack<Number, true>(v, int64_t{1}, ldb, width, keys, w.panel, columns);
          v = w.panel;
          ldb = columns;
        }
        tile(w.packed, v, ldb, keys, w.sums + row * sums_row + c, sums_row, width);
      }
    }
  }
  bool finite = true;
  // A query with no allowed key gives zeros.
  for (int64_t row = 0; row < rows; ++row) {
    Number* const sums = w.sums + row * sums_row;
    T* const out = h.out + (first_query + row) * h.out_row;
    const Number factor = w.maximum[row] == lowest_score ? 0 : 1 / w.total[row];
    finite = finite && are_finite(sums, h.value_head);
    if (factor_of_weights != 1) {
      scale_row(sums, h.value_head, factor, sums);
      replace_infinite(sums, h.value_head, 1 / factor_of_weights, out);
    } else if constexpr (is_converted<T>) {
      scale_row(sums, h.value_head, factor, sums);
      narrow_all(sums, h.value_head, out);
    } else {
      scale_row(sums, h.value_head, factor, out);
    }
  }
  return finite;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
