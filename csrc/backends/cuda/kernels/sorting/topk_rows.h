// Access to the rows of x and of the outputs of topk.
#pragma once

#include "kernels/sorting/find_threshold.h"
#include "kernels/sorting/sort_keys.h"
#include "kernels/sorting/topk.h"

namespace ferrule::cuda {

template <class Item>
struct TopkRow {
  using Bits = typename SortKey<Item>::Bits;
  using Key = typename SortKey<Item>::Key;
  const TopkRows& rows;
  const Bits* from;
  uint64_t to;  // the first element of the outputs' row

  __device__ __forceinline__ TopkRow(const TopkRows& given, uint64_t row)
      : rows(given), from(pointer<const Bits>(given.x) + offset_of(given.kept, row)) {
    const auto inner = static_cast<uint64_t>(rows.inner);
    const uint64_t outer = row / inner;
    to = outer * static_cast<uint64_t>(rows.k) * inner + (row - outer * inner);
  }
  // Greater keys are better.
  __device__ __forceinline__ Key key(uint64_t index) const {
    const Key key = SortKey<Item>::of(from[static_cast<int64_t>(index) * rows.stride]);
    return rows.is_least != 0 ? key ^ SortKey<Item>::all : key;
  }
  // Writes the element that is number `place` in the outputs' row.
  __device__ __forceinline__ void write_one(uint32_t place, int64_t index) const {
    const uint64_t at = to + uint64_t{place} * static_cast<uint64_t>(rows.inner);
    pointer<Bits>(rows.values)[at] = from[index * rows.stride];
    pointer<int64_t>(rows.indices)[at] = index;
  }
  // Writes the outputs' row, with all threads of the block.
  __device__ __forceinline__ void write(const uint32_t* indices) const {
    for (uint32_t i = threadIdx.x; i < static_cast<uint32_t>(rows.k); i += blockDim.x) write_one(i, indices[i]);
  }
};

}  // namespace ferrule::cuda
