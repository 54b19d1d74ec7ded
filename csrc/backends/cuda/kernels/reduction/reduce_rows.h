// Reduces each leaf (reduce.h) with a warp, or several leaves of few vectors: for rows whose elements are adjacent.
// Limited by bytes read: up to 8 loads of 16 bytes are in flight per thread. Vectors of a row at no multiple of 16
// bytes are cut out of two aligned ones each, of which the second is a neighbour's first, in the L1 cache.
#pragma once

#include "kernels/reduction/reduce_leaves.h"

namespace ferrule::cuda {

inline constexpr uint32_t reduce_rows_threads = 256, reduce_most_slots = 64;

// Combines elements [from, from + vector_items) of a leaf of `count`. `item` gives the items.
template <class Op, class Items>
__device__ __forceinline__ typename Op::Near vector_of(const Op& op, const Items& item, uint32_t from, uint32_t count) {
  typename Op::Near values[vector_items<Op>];
#pragma unroll
  for (uint32_t i = 0; i < vector_items<Op>; ++i)
    values[i] = from + i < count ? op.near_of(item(i), from + i) : Op::no_element();
  return pairwise(op, values);
}

// The 16 bytes that begin `bytes` (1 to 15) bytes, a number of whole items, after the first of two adjacent vectors.
template <class Item, uint32_t kCount>
__device__ __forceinline__ Adjacent<Item, kCount> cut_out(const Adjacent<Item, kCount>& low,
                                                          const Adjacent<Item, kCount>& high, uint32_t bytes) {
  Adjacent<Item, kCount> vector;
  if constexpr (sizeof(Item) == 8) {
    vector.words[0] = low.words[1], vector.words[1] = high.words[0];
  } else {
    // Moved by eight bytes, by four, and then by bits.
    const bool by_8 = (bytes & 8) != 0, by_4 = (bytes & 4) != 0;
    const uint32_t w[6] = {by_8 ? low.words[2] : low.words[0],   by_8 ? low.words[3] : low.words[1],
                           by_8 ? high.words[0] : low.words[2],  by_8 ? high.words[1] : low.words[3],
                           by_8 ? high.words[2] : high.words[0], by_8 ? high.words[3] : high.words[1]};
    uint32_t v[5];
#pragma unroll
    for (uint32_t i = 0; i < 5; ++i) v[i] = by_4 ? w[i + 1] : w[i];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i)
      vector.words[i] = sizeof(Item) == 4 ? v[i] : __funnelshift_r(v[i], v[i + 1], bytes % 4 * 8);
  }
  return vector;
}

template <class Op>
__device__ __forceinline__ typename Op::Near leaf_of_lane(const ReduceParameters& p, const Op& op, uint64_t result,
                                                          uint64_t leaf, uint32_t lane) {
  using Item = typename Op::Item;
  using Vector = Adjacent<Item, vector_items<Op>>;
  constexpr uint32_t items = vector_items<Op>;
  typename Op::Near near = Op::no_element();
  const uint64_t first = leaf * leaf_items<Op>;
  if (result >= p.results || first >= p.length) return near;
  const uint64_t left = p.length - first;
  const auto count = static_cast<uint32_t>(left < leaf_items<Op> ? left : leaf_items<Op>);
  const Item* const row = pointer<const Item>(p.x) + offset_of(p.kept, result);
  const auto shift = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(row) % reduce_vector_bytes);
  const bool has_vectors = p.has_vectors != 0 && shift == 0;
  uint32_t from = lane * items;
  if (has_vectors && p.reduced.rank == 1) {
    const Item* const own = row + first + from;
    const uint32_t whole = count / items;
    Vector vectors[reduce_steps] = {};
#pragma unroll
    for (uint32_t step = 0; step < reduce_steps; ++step)
      if (step * reduce_lanes + lane < whole) vectors[step].load(own + step * reduce_lanes * items);
#pragma unroll
    for (uint32_t step = 0; step < reduce_steps; ++step) {
      if (step * reduce_lanes + lane >= whole) continue;
      const auto item = [&](uint32_t i) { return vectors[step].item(i); };
      near = op.combined(near, vector_of(op, item, (step * reduce_lanes + lane) * items, leaf_items<Op>));
    }
    from = lane == whole % reduce_lanes ? whole * items : count;  // the vector that is not whole
  }
  // The vectors of a row at no multiple of 16 bytes whose aligned vectors are within the row.
  constexpr uint32_t cut_steps = 4;
  const bool has_cuts = p.has_vectors != 0 && shift != 0 && p.reduced.rank == 1;
  const auto count_cuts = [&](uint32_t at) {  // from `at` on, one after the other
    uint32_t steps = 0;
    for (; has_cuts && steps < cut_steps && at < count; at += reduce_lanes * items, ++steps)
      if (first + at == 0 || (first + at + 2 * items) * sizeof(Item) - shift > p.length * sizeof(Item)) break;
    return steps;
  };
#pragma unroll 1
  for (; from < count; from += reduce_lanes * items) {
    if (const uint32_t steps = count_cuts(from); steps != 0) {
      const uint32_t items_before = shift / sizeof(Item);
      const Item* const aligned = row + first + from - items_before;
      Vector low[cut_steps] = {}, high[cut_steps] = {};
#pragma unroll
      for (uint32_t step = 0; step < cut_steps; ++step) {
        if (step >= steps) continue;
        low[step].load(aligned + step * reduce_lanes * items);
        high[step].load(aligned + (step * reduce_lanes + 1) * items);
      }
#pragma unroll
      for (uint32_t step = 0; step < cut_steps; ++step) {
        if (step >= steps) continue;
        const Vector vector = cut_out(low[step], high[step], shift);
        const auto item = [&](uint32_t i) { return vector.item(i); };
        near = op.combined(near, vector_of(op, item, from + step * reduce_lanes * items, leaf_items<Op>));
      }
      from += (steps - 1) * reduce_lanes * items;
    } else if (has_vectors && from + items <= count) {
      Vector vector;
      vector.load(row + offset_of(p.reduced, first + from));
      near = op.combined(near, vector_of(
                                   op, [&](uint32_t i) { return vector.item(i); }, from, leaf_items<Op>));
    } else {
      Adjacent<Item, 1> loaded[items] = {};
      gather(p, row, first + from, first + count, loaded);
      near = op.combined(near, vector_of(
                                   op, [&](uint32_t i) { return loaded[i].item(0); }, from, count));
    }
  }
  return near;
}

// A result has one leaf: p.lanes lanes reduce it.
template <class Op>
__device__ __forceinline__ void reduce_short_rows(const ReduceParameters& p, const Op& op) {
  const uint64_t result = thread_number() / p.lanes;
  const uint32_t lane = threadIdx.x % p.lanes;
  typename Op::Near near = leaf_of_lane(p, op, result, 0, lane);
  for (uint32_t half = p.lanes / 2; half > 0; half /= 2) near = op.combined(near, exchanged(near, half));
  if (lane == 0 && result < p.results) leave(p, op, result, 0, op.widened(near, 0));
}

template <class Op>
__device__ __forceinline__ void reduce_rows(const ReduceParameters& p) {
  const Op op(p.is_reversed);
  if (p.leaves == 1) return reduce_short_rows(p, op);
  FERRULE_SHARED(typename Op::Value, values, [reduce_most_slots]);
  const uint32_t units = p.slots / p.leaves;  // parts of results that the block has
  const uint64_t first_unit = static_cast<uint64_t>(blockIdx.x) * units;
#pragma unroll 1
  for (uint32_t slot = threadIdx.x / 32; slot < p.slots; slot += reduce_rows_threads / 32) {
    const uint64_t unit = first_unit + slot / p.leaves, result = unit / p.parts;
    const uint64_t leaf = (unit - result * p.parts) * p.leaves + slot % p.leaves;
    typename Op::Near near = leaf_of_lane(p, op, result, leaf, threadIdx.x % 32);
#pragma unroll
    for (uint32_t half = reduce_lanes / 2; half > 0; half /= 2) near = op.combined(near, exchanged(near, half));
    if (threadIdx.x % 32 == 0) values[slot] = op.widened(near, leaf * leaf_items<Op>);
  }
  __syncthreads();
  for (uint32_t gap = 1; gap < p.leaves; gap *= 2) {
    const uint32_t at = threadIdx.x * 2 * gap;
    if (at < p.slots) values[at] = op.combined(values[at], values[at + gap]);
    __syncthreads();
  }
  if (threadIdx.x >= units) return;
  const uint64_t unit = first_unit + threadIdx.x, result = unit / p.parts;
  if (result < p.results) leave(p, op, result, unit - result * p.parts, values[threadIdx.x * p.leaves]);
}

}  // namespace ferrule::cuda
