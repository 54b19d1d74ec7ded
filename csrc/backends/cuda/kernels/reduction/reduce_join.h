// Joins the parts of each result pairwise, in the order of reduce.h: 4 * p.team parts by p.team threads.
#pragma once

#include "kernels/reduction/reduce_leaves.h"

namespace ferrule::cuda {

inline constexpr uint32_t reduce_join_threads = 256;

template <class Op>
__device__ __forceinline__ void reduce_join(const JoinParameters& p) {
  using Value = typename Op::Value;
  FERRULE_SHARED(Value, values, [reduce_join_threads]);
  const Op op(p.is_reversed);
  const uint32_t columns = reduce_join_threads / p.team;  // results of a block
  const uint64_t groups = (p.results + columns - 1) / columns, block = blockIdx.x / groups;
  const uint64_t result = (blockIdx.x - block * groups) * columns + threadIdx.x % columns;
  const uint64_t first = (block * p.team + threadIdx.x / columns) * 4;
  const bool counts = result < p.results;
  Value own[4];
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    own[i] =
        counts && first + i < p.parts ? pointer<const Value>(p.from)[(first + i) * p.results + result] : Op::nothing();
  values[threadIdx.x] = pairwise(op, own);
  __syncthreads();
  for (uint32_t gap = 1; gap < p.team; gap *= 2) {
    const uint32_t at = threadIdx.x / columns * 2 * gap * columns + threadIdx.x % columns;
    if (at + gap * columns < reduce_join_threads) values[at] = op.combined(values[at], values[at + gap * columns]);
    __syncthreads();
  }
  if (threadIdx.x >= columns || !counts) return;
  if (p.parts <= 4 * p.team)
    op.store(p.to, result, values[threadIdx.x]);
  else
    pointer<Value>(p.partials)[block * p.results + result] = values[threadIdx.x];
}

}  // namespace ferrule::cuda
