// Reduces each leaf (reduce.h) of adjacent results: each thread has up to four of them, and one lane of their leaves.
// Limited by bytes read: the loads of a vector's elements, of 4 to 16 bytes each, are in flight together.
#pragma once

#include "kernels/reduction/reduce_leaves.h"

namespace ferrule::cuda {

inline constexpr uint32_t reduce_columns_threads = 512;

// Adjacent results that a thread reduces together.
template <class Op>
inline constexpr uint32_t adjacent_results = sizeof(typename Op::Item) == 8 ||
                                                     (sizeof(typename Op::Item) == 2 && sizeof(typename Op::Near) > 4)
                                                 ? 2
                                                 : 4;

// Combines elements [from, from + vector_items) of a leaf with what each of kSpan results has so far.
template <class Op, uint32_t kSpan>
__device__ __forceinline__ void add_vector(const Op& op,
                                           const Adjacent<typename Op::Item, kSpan> (&loaded)[vector_items<Op>],
                                           uint32_t from, uint32_t count, typename Op::Near (&near)[kSpan]) {
#pragma unroll
  for (uint32_t k = 0; k < kSpan; ++k) {
    typename Op::Near values[vector_items<Op>];
#pragma unroll
    for (uint32_t i = 0; i < vector_items<Op>; ++i)
      values[i] = from + i < count ? op.near_of(loaded[i].item(k), from + i) : Op::no_element();
    near[k] = op.combined(near[k], pairwise(op, values));
  }
}

// One leaf of results [result, result + kSpan) by the threads of the block that have the same x.
template <class Op, uint32_t kSpan>
__device__ __forceinline__ void reduce_span(const ReduceParameters& p, const Op& op, uint64_t result, uint64_t leaf,
                                            typename Op::Near* shared) {
  using Near = typename Op::Near;
  constexpr uint32_t items = vector_items<Op>;
  const uint32_t lane = threadIdx.x / p.spans;
  const uint64_t first = leaf * leaf_items<Op>, left = p.length - first;
  const auto count = static_cast<uint32_t>(left < leaf_items<Op> ? left : leaf_items<Op>);
  const bool counts = result < p.results;
  Near near[kSpan];
#pragma unroll
  for (uint32_t k = 0; k < kSpan; ++k) near[k] = Op::no_element();
  if (counts) {
    const auto* const column = pointer<const typename Op::Item>(p.x) + offset_of(p.kept, result);
    uint32_t from = lane * items;
    if (kSpan > 1 || p.reduced.rank <= 1) {
      const int64_t stride = p.reduced.strides[0];
      const auto* row = column + static_cast<int64_t>(first + from) * stride;
#pragma unroll 1
      for (; from + items <= count; from += reduce_lanes * items, row += (reduce_lanes - 1) * items * stride) {
        Adjacent<typename Op::Item, kSpan> loaded[items];
#pragma unroll
        for (uint32_t i = 0; i < items; ++i, row += stride) loaded[i].load(row);
        add_vector(op, loaded, from, leaf_items<Op>, near);
      }
    }
#pragma unroll 1
    for (; from < count; from += reduce_lanes * items) {
      Adjacent<typename Op::Item, kSpan> loaded[items] = {};
      gather(p, column, first + from, first + count, loaded);
      add_vector(op, loaded, from, count, near);
    }
  }
  if (p.lanes > 1) {
    Near* const own = shared + threadIdx.x;  // value k of each thread is at k * blockDim.x
#pragma unroll
    for (uint32_t k = 0; k < kSpan; ++k) own[k * blockDim.x] = near[k];
    for (uint32_t half = p.lanes / 2; half > 0; half /= 2) {
      __syncthreads();
      if (lane >= half) continue;
#pragma unroll
      for (uint32_t k = 0; k < kSpan; ++k) {
        near[k] = op.combined(near[k], own[k * blockDim.x + half * p.spans]);
        own[k * blockDim.x] = near[k];
      }
    }
    __syncthreads();
  }
  if (lane != 0 || !counts) return;
#pragma unroll
  for (uint32_t k = 0; k < kSpan; ++k) leave(p, op, result + k, leaf, op.widened(near[k], first));
}

template <class Op>
__device__ __forceinline__ void reduce_columns(const ReduceParameters& p) {
  using Item = typename Op::Item;
  constexpr uint32_t most = adjacent_results<Op>;
  FERRULE_SHARED(typename Op::Near, shared, [reduce_columns_threads * most]);
  const Op op(p.is_reversed);
  const uint32_t x = threadIdx.x % p.spans, block_results = p.spans * p.span;
  const uint64_t groups = (p.results + block_results - 1) / block_results, leaf = blockIdx.x / groups;
  const uint64_t first = (blockIdx.x - leaf * groups) * block_results;
  if (p.has_vectors != 0 && p.x % (most * sizeof(Item)) == 0)
    return reduce_span<Op, most>(p, op, first + x * most, leaf, shared);
#pragma unroll 1
  for (uint32_t k = 0; k < p.span; ++k) reduce_span<Op, 1>(p, op, first + k * p.spans + x, leaf, shared);
}

}  // namespace ferrule::cuda
