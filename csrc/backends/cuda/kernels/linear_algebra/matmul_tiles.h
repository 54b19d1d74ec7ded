// Device code that all kernels of matrix products share: the tile of a block, and the handling of sums.
#pragma once

#include "kernels/device.h"
#include "kernels/linear_algebra/matmul.h"

namespace ferrule::cuda {

// Values that are loaded and stored together.
template <class T, int COUNT>
struct alignas(sizeof(T) * COUNT < 16 ? sizeof(T) * COUNT : 16) Pack {
  T of[COUNT];
};

template <class T>
__device__ __forceinline__ bool is_aligned(const T* address, uint64_t bytes) {
  return reinterpret_cast<uint64_t>(address) % bytes == 0;
}

// An item as the kernels compute with it.
template <class Value, class Item>
__device__ __forceinline__ Value value_of(Item item) {
  return static_cast<Value>(item);
}
template <>
__device__ __forceinline__ float value_of(Half item) {
  return to_float(item);
}
template <>
__device__ __forceinline__ float value_of(BFloat16 item) {
  return to_float(item);
}

// The tile that a block computes.
struct TilePlace {
  uint32_t batch;
  uint32_t segment;  // if the segments are split among blocks
  uint32_t first_m, first_n;
  uint32_t start, stop;  // along K
};

// Blocks that run at the same time share rows of A and columns of B in the L2 cache: tiles are numbered by columns
// within groups of eight rows of tiles. As the number of the block is read anew each time, the compiler computes a
// TilePlace again at the end, and keeps it in no registers.
template <uint32_t M, uint32_t N>
__device__ __forceinline__ TilePlace place_of_tile(const MatmulParameters& p, uint32_t block = block_in_grid()) {
  // They are no larger than the number of blocks, which has 31 bits.
  const uint32_t tiles_m = (p.m + M - 1) / M, tiles_n = (p.n + N - 1) / N, tiles = tiles_m * tiles_n;
  const uint32_t number = block / tiles, tile = block - number * tiles;
  const uint32_t group_rows = tiles_m < 8 ? tiles_m : 8, group = tile / (group_rows * tiles_n);
  const uint32_t in_group = tile - group * group_rows * tiles_n, rest = tiles_m - group * group_rows;
  const uint32_t rows = rest < group_rows ? rest : group_rows, column = in_group / rows;
  TilePlace place;
  place.first_m = (group * group_rows + in_group - column * rows) * M;
  place.first_n = column * N;
  place.batch = p.is_split != 0 ? number / p.segments : number;
  place.segment = number - (p.is_split != 0 ? place.batch * p.segments : number);
  place.start = place.segment * p.segment;
  place.stop = p.is_split != 0 && p.k - place.start > p.segment ? place.start + p.segment : p.k;
  return place;
}

// The sums of a thread are of one segment. `totals`, those of the finished segments, would take as many registers, and
// are used once per segment: they are in local memory. Their index depends on a parameter, `zero`, because the compiler
// would keep them in registers otherwise.

// End of the segment of a block that computes only one segment.
inline constexpr uint32_t no_end = UINT32_MAX;

// Adds the sums to the totals, and clears them. The totals of a batch are all loaded before one is stored: the compiler
// cannot know that `zero` is none, and would wait for each.
template <class Value, int COUNT>
__device__ __forceinline__ void add_sums(Value (&totals)[COUNT], Value (&sums)[COUNT], bool is_first, uint32_t zero) {
  constexpr int batch = COUNT < 16 ? COUNT : 16;
  static_assert(COUNT % batch == 0);
#pragma unroll
  for (int first = 0; first < COUNT; first += batch) {
    Value before[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) before[i] = is_first ? Value(0) : totals[first + i + zero];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      totals[first + i + zero] = before[i] + sums[first + i];
      sums[first + i] = Value(0);
    }
  }
}

// Ends a segment that is not the last one, and starts the next.
template <class Value, int COUNT>
__device__ __forceinline__ void end_segment(Value (&totals)[COUNT], Value (&sums)[COUNT], bool is_first,
                                            const MatmulParameters& p) {
  add_sums(totals, sums, is_first, p.zero);
}

// The total to which the sum of the last segment is added. 0 + sum has no negative zero, which would depend on the
// tile's padding.
template <class Value>
__device__ __forceinline__ Value total_at(const Value* totals, uint32_t i, const MatmulParameters& p) {
  return p.is_split != 0 || p.segments == 1 ? Value(0) : totals[i + p.zero];
}

// ---- results
template <class Item>
struct ItemOf {
  template <class Value>
  __device__ __forceinline__ static Item from(Value sum) {
    return static_cast<Item>(sum);
  }
};
template <>
struct ItemOf<Half> {
  __device__ __forceinline__ static Half from(float sum) { return from_float<Half>(sum); }
};
template <>
struct ItemOf<BFloat16> {
  __device__ __forceinline__ static BFloat16 from(float sum) { return from_float<BFloat16>(sum); }
};

// The number of an element of the result.
__device__ __forceinline__ uint64_t element_at(const MatmulParameters& p, const TilePlace& place, uint32_t row,
                                               uint32_t column) {
  return place.batch * (static_cast<uint64_t>(p.m) * p.n) +
         static_cast<uint64_t>(row * p.to_row + column * p.to_column);
}

template <class T, int COUNT>
__device__ __forceinline__ void store_row(T* to, int64_t step, uint32_t count, const Pack<T, COUNT>& values) {
  if (COUNT > 1 && step == 1 && count >= COUNT && is_aligned(to, alignof(Pack<T, COUNT>))) {
    *reinterpret_cast<Pack<T, COUNT>*>(to) = values;
    return;
  }
#pragma unroll
  for (int i = 0; i < COUNT; ++i)
    if (i < static_cast<int>(count)) to[i * step] = values.of[i];
}

// Rows of COLUMNS sums in shared memory, by which the lanes of a warp exchange them. Eight lanes read the first halves
// of eight neighbours each at once: some have their halves exchanged, so that all 32 banks have one of them.
template <uint32_t COLUMNS>
struct SumRows {
  static constexpr uint32_t pitch = COLUMNS + 8;  // spreads the rows over the banks

  __device__ __forceinline__ static uint32_t place(uint32_t row, uint32_t column) {
    const uint32_t is_exchanged = COLUMNS >= 64 ? column / 32 % 2 : row % 2;
    return row * pitch + (column ^ is_exchanged * 4);
  }
  template <class Value>
  __device__ __forceinline__ static Pack<Value, 8> read(const Value* rows, uint32_t row, uint32_t column) {
    Pack<Value, 8> sums;
#pragma unroll
    for (uint32_t first = 0; first < 8; first += 4) {
      const auto half = *reinterpret_cast<const Pack<Value, 4>*>(rows + place(row, column + first));
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) sums.of[first + i] = half.of[i];
    }
    return sums;
  }
};

// Stores the sums of COUNT columns of a row of the matrix, those that exist.
template <class Item, class Value, int COUNT>
__device__ __forceinline__ void store_sums(const MatmulParameters& p, const TilePlace& place, uint32_t row,
                                           uint32_t column, const Pack<Value, COUNT>& sums) {
  if (row >= p.m || column >= p.n) return;
  const uint32_t left = p.n - column, exists = left < COUNT ? left : COUNT;
  const uint64_t element = element_at(p, place, row, column);
  if (p.is_split != 0) {
    const uint64_t count = p.batches * (static_cast<uint64_t>(p.m) * p.n);
    store_row(pointer<Value>(p.to) + place.segment * count + element, p.to_column, exists, sums);
    return;
  }
  Pack<Item, COUNT> items;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) items.of[i] = ItemOf<Item>::from(sums.of[i]);
  store_row(pointer<Item>(p.to) + element, p.to_column, exists, items);
}

}  // namespace ferrule::cuda
