// Tiles in shared memory for attention by wgmma: their barriers, and how a warp group fills them.
#pragma once

#include "kernels/attention/attention_hopper.h"
#include "kernels/attention/attention_rows.h"
#include "kernels/hopper_instructions.h"

namespace ferrule::cuda::attention {

#if FERRULE_HAS_WGMMA

inline constexpr uint32_t group_threads = 128;  // of a warp group
inline constexpr uint32_t key_block = attention_wide_block;

// The mbarriers of a ring. `full`: a tile has arrived; `empty`: all readers of a tile are done.
template <uint32_t STAGES>
struct RingBarriers {
  uint64_t full[STAGES], empty[STAGES];
};
template <uint32_t STAGES>
struct Barriers {
  RingBarriers<STAGES> keys, values;
  uint64_t queries, tail, turns[2];
};

template <class Shape>
struct Tiles {
  unsigned char* queries;
  __device__ __forceinline__ unsigned char* keys(uint32_t slot) const {
    return queries + (1 + slot) * Shape::tile_bytes;
  }
  __device__ __forceinline__ unsigned char* values(uint32_t slot) const {
    return queries + (1 + Shape::stages + slot) * Shape::tile_bytes;
  }
};

// One operand: how the warp group that copies fills tiles from it.
template <class Shape>
struct Source {
  const TensorMap& map;
  const uint16_t* matrix;  // of the batch
  int64_t row_stride;
  uint32_t width, rows;  // that exist
  uint32_t near = 0, far = 0;
  bool is_mapped;

  __device__ __forceinline__ Source(const AttentionHopperParameters& p, uint32_t operand, uint32_t batch,
                                    int64_t stride, uint32_t columns, uint32_t count)
      : map(p.maps[operand]), row_stride(stride), width(columns), rows(count), is_mapped(map.address % 16 == 0) {
    const Layout& batches = p.attention.batches[operand];
    int64_t offset = 0;
    bool is_far = false;
    for (uint32_t axis = 0; axis < batches.rank; ++axis) {
      const auto size = static_cast<uint32_t>(batches.shape[axis]);
      const uint32_t index = batch % size;
      batch /= size;
      offset += index * batches.strides[axis];
      if (batches.strides[axis] == 0) continue;
      (is_far ? far : near) = index;
      is_far = true;
    }
    matrix = pointer<const uint16_t>(map.address) + offset;
  }

  // Starts the copy of the rows from `first` on. Called by one thread.
  __device__ __forceinline__ void start_copy(unsigned char* tile, uint32_t first, uint64_t* barrier) const {
#pragma unroll
    for (uint32_t column = 0; column < Shape::columns; column += 64)
      copy_box(tile + column / 64 * Shape::part_bytes, &map, column, first, near, far, barrier);
  }

  // Copies without a tensor map, for items that are aligned to 2 bytes alone. Called by all threads. Chunk c of 16
  // bytes of row r goes to c ^ r % 8, as TMA and wgmma place it.
  __device__ __forceinline__ void copy(unsigned char* tile, uint32_t first) const {
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < Shape::rows * Shape::columns; i += group_threads) {
      const uint32_t row = i / Shape::columns, column = i % Shape::columns;
      const bool exists = first + row < rows && column < width;
      const uint16_t item = exists ? matrix[(first + row) * row_stride + column] : static_cast<uint16_t>(0);
      unsigned char* const part = tile + column / 64 * Shape::part_bytes + row * Shape::row_bytes;
      *reinterpret_cast<uint16_t*>(part + ((column % 64 / 8) ^ (row % 8)) * 16 + column % 8 * 2) = item;
    }
  }
};

// Writes zeros to the rows of a tile from `first` on. Called by all threads of the warp group that copies.
template <class Shape>
__device__ __forceinline__ void clear_rows(unsigned char* tile, uint32_t first) {
  constexpr uint32_t chunks = Shape::row_bytes / 16;
#pragma unroll
  for (uint32_t column = 0; column < Shape::columns; column += 64)
#pragma unroll 1
    for (uint32_t i = first * chunks + threadIdx.x; i < Shape::rows * chunks; i += group_threads)
      reinterpret_cast<uint4*>(tile + column / 64 * Shape::part_bytes)[i] = uint4{0, 0, 0, 0};
}

// The work of a thread block: rows of queries of one batch. Its first warp group calls produce().
template <class Shape>
struct AttentionBlock {
  const AttentionHopperParameters& parameters;
  const AttentionParameters& p;
  Tiles<Shape> tiles;
  Barriers<Shape::stages>& barriers;
  uint32_t batch, keys, first_row, blocks;
  // Whether all threads of the first warp group fill tiles, and not TMA alone: operands without a tensor map, and rows
  // of values from kv_length on, which may be NaN.
  bool fills;

  // Rows up to this one, included, keep the keys before.
  __device__ __forceinline__ uint32_t end_at(uint32_t row) const {
    return keys_before(p, keys, row < p.queries ? row : p.queries - 1);
  }

  __device__ __forceinline__ void fill(unsigned char* tile, const Source<Shape>& source, uint32_t first,
                                       uint64_t* full) const {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect(full, source.is_mapped ? Shape::tile_bytes : 0);
      if (source.is_mapped) source.start_copy(tile, first, full);
    }
    if (!fills) return;
    if (!source.is_mapped) source.copy(tile, first);
    fence_proxy_async();
    mbarrier_arrive(full);
  }

  // The last tile of values, of which `rows` rows exist, where TMA copies other rows behind them.
  __device__ __forceinline__ void fill_tail(unsigned char* tile, const Source<Shape>& source, uint32_t first,
                                            uint32_t rows, uint64_t* full) const {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect(&barriers.tail, Shape::tile_bytes);
      source.start_copy(tile, first, &barriers.tail);
      mbarrier_arrive(full);
    }
    mbarrier_wait(&barriers.tail, 0);
    clear_rows<Shape>(tile, rows);
    fence_proxy_async();
    mbarrier_arrive(full);
  }

  __device__ __forceinline__ void produce() const {
    if ((!fills && threadIdx.x != 0) || blocks == 0) return;
    using P = AttentionParameters;
    const Source<Shape> query(parameters, P::query, batch, p.query_row, p.head, p.queries);
    const Source<Shape> key(parameters, P::key, batch, p.key_row, p.head, keys);
    const Source<Shape> value(parameters, P::value, batch, p.value_row, p.value_head, keys);
    fill(tiles.queries, query, first_row, &barriers.queries);
    RingPlace<Shape::stages> next;
#pragma unroll 1
    for (uint32_t block = 0; block < blocks; ++block) {
      const uint32_t first = block * key_block;
      mbarrier_wait(barriers.keys.empty + next.slot, next.parity ^ 1);
      fill(tiles.keys(next.slot), key, first, barriers.keys.full + next.slot);
      mbarrier_wait(barriers.values.empty + next.slot, next.parity ^ 1);
      uint64_t* const full = barriers.values.full + next.slot;
      if (value.is_mapped && keys < p.keys && keys - first < key_block)
        fill_tail(tiles.values(next.slot), value, first, keys - first, full);
      else
        fill(tiles.values(next.slot), value, first, full);
      next.advance();
    }
  }
};

#endif  // FERRULE_HAS_WGMMA

}  // namespace ferrule::cuda::attention
