// Products of float16 and bfloat16 with weights in blocks, by matrix instructions (compute capability 8.0). Blocks come
// into shared memory as they are stored, and each lane decodes the elements that it has in B, rounded to the dtype of
// A.
//
// The weights, and the order of additions, are those of the product with the decoded B (matmul_tensor.h): all M use
// m16n8k16 in the order of K, in the same segments.
//
// Limits: the bytes of the blocks for up to 16 rows; matrix instructions for many (2 M N K flops), beside about four
// instructions to decode a weight, once for each tile of M.
#pragma once

#include "kernels/linear_algebra/matmul_blocks_tiles.h"
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

// The numbers of elements `first` and `first` + 1 of a part of 32, in two bytes. `group` has 256 elements.
__device__ __forceinline__ uint32_t two_bytes(const uint8_t* address) {
  return *reinterpret_cast<const uint16_t*>(address);
}
template <class Block>
__device__ __forceinline__ uint32_t two_numbers(const uint8_t* group, uint32_t part, uint32_t first);
template <>
__device__ __forceinline__ uint32_t two_numbers<BlockQ8_0>(const uint8_t* group, uint32_t part, uint32_t first) {
  return two_bytes(group + part * sizeof(BlockQ8_0) + 2 + first) ^ 0x8080u;
}
template <>
__device__ __forceinline__ uint32_t two_numbers<BlockQ4_0>(const uint8_t* group, uint32_t part, uint32_t first) {
  return two_bytes(group + part * sizeof(BlockQ4_0) + 2 + first % 16) >> (first < 16 ? 0 : 4) & 0x0f0fu;
}
template <>
__device__ __forceinline__ uint32_t two_numbers<BlockQ4K>(const uint8_t* group, uint32_t part, uint32_t first) {
  return two_bytes(group + 16 + part / 2 * 32 + first) >> part % 2 * 4 & 0x0f0fu;
}
template <>
__device__ __forceinline__ uint32_t two_numbers<BlockQ6K>(const uint8_t* group, uint32_t part, uint32_t first) {
  const uint32_t half = part / 4, quarter = part % 4;
  const uint32_t low = two_bytes(group + half * 64 + quarter % 2 * 32 + first) >> quarter / 2 * 4 & 0x0f0fu;
  return low | (two_bytes(group + 128 + half * 32 + first) >> quarter * 2 & 0x0303u) << 4;
}

template <class Shape>
struct BlockProduct {
  static constexpr int own_n = Shape::n / Shape::warps, columns = own_n / 8, rows = Shape::m / 16;  // of instructions
  static constexpr uint32_t depth = Shape::depth, stages = Shape::stages, threads = Shape::threads;
  using Sums = TensorTile<Shape::m, Shape::n, Shape::depth, 1, Shape::warps, Shape::stages>;
  static constexpr int count = Sums::count;

  // The B of 32 x 8 elements of a warp, two instructions along K, from the chunks of this lane's column.
  template <class Item, class Block>
  __device__ __forceinline__ static void decode(uint32_t (&to)[2][2], const uint8_t* group, uint32_t part) {
    const PartScales<Block> scales(group, part);
    uint32_t numbers[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) numbers[i] = two_numbers<Block>(group, part, i * 8 + threadIdx.x % 4 * 2);
    if (scales.is_fast()) {
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i)
        to[i / 2][i % 2] =
            packed<Item>(scales.fast_weight(numbers[i], 0, i / 2), scales.fast_weight(numbers[i], 1, i / 2));
    } else {
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i)
        to[i / 2][i % 2] = packed<Item>(scales.weight(numbers[i], 0, i / 2), scales.weight(numbers[i], 1, i / 2));
    }
  }

  template <class Item, class Block>
  __device__ __forceinline__ static void run(const MatmulBlocksParameters& q) {
    if constexpr (has_mma_m16n8k16) {
      const MatmulParameters& p = q.product;
      using TileA = HalfTile<Shape::m, Shape::depth, threads, true>;
      using Chunks = BlockChunks<Block>;
      constexpr uint32_t tile_of_b = Shape::n * Chunks::pitch;
      static_assert(sizeof(Chunk) == sizeof(BlockChunk) && TileA::size == Shape::chunks_of_a);
      FERRULE_DYNAMIC_SHARED(Chunk, memory);
      BlockChunk* const blocks = reinterpret_cast<BlockChunk*>(memory + TileA::size * stages);

      const TilePlace place = place_of_tile<Shape::m, Shape::n>(p);
      TileA a(pointer<const uint16_t>(p.a) + offset_of(p.a_batches, place.batch) + place.first_m * p.a_row +
                  place.start * p.a_column,
              p.m - place.first_m, p.a_row, p.a_column);
      const BlockColumns<Block> b(q, place.batch, place.first_n);
      const uint32_t warp = threadIdx.x / 32, own_column = warp * own_n + threadIdx.x % 32 / 4;

      uint32_t next_copy = place.start;
      const auto copy = [&](uint32_t slot) {
        if (next_copy < place.stop) {
          a.copy(memory + slot * TileA::size, place.stop - next_copy);
          if (next_copy == place.start || next_copy % 256 == 0) {
            const uint32_t group = next_copy / 256;
            BlockChunk* const tile = blocks + group % Shape::block_stages * tile_of_b;
#pragma unroll 1
            for (uint32_t i = 0; i < Shape::n * Chunks::count; i += threads) {
              const uint32_t number = i + threadIdx.x;
              if ((Shape::n * Chunks::count) % threads == 0 || number < Shape::n * Chunks::count)
                b.copy(tile, number / Chunks::count, number % Chunks::count, group);
            }
          }
          next_copy += depth;
        }
        cp_async_commit();
      };

      float sums[count], totals[count];
#pragma unroll
      for (int i = 0; i < count; ++i) sums[i] = 0;
      for (uint32_t i = 0; i < stages - 1; ++i) copy(i);
      cp_async_wait<stages - 2>();
      __syncthreads();
      uint32_t slot = 0, segment_end = p.is_split != 0 ? no_end : p.segment;
      for (uint32_t k = place.start; k < place.stop; k += depth) {
        if (k == segment_end) {
          end_segment(totals, sums, segment_end == p.segment, p);
          segment_end += p.segment;
        }
        // The slot of the step before, and the blocks before those that are still read: their readers passed the
        // barrier below.
        copy(slot == 0 ? stages - 1 : slot - 1);
        const Chunk* const tile_a = memory + slot * TileA::size;
        const BlockChunk* const tile_b = blocks + k / 256 % Shape::block_stages * tile_of_b;
#pragma unroll(columns > 2 ? 1 : 2)
        for (uint32_t within = 0; within < depth; within += 32) {
          // The rest of the step is beyond K.
          if (k + within >= place.stop) break;
          uint32_t fragments[columns][2][2];
#pragma unroll
          for (uint32_t j = 0; j < columns; ++j) {
            const uint32_t column = own_column + j * 8;
            const uint8_t* const group = reinterpret_cast<const uint8_t*>(tile_b + column * Chunks::pitch);
            decode<Item, Block>(fragments[j], group + b.shift(column, k / 256), (k + within) % 256 / 32);
          }
#pragma unroll
          for (uint32_t half = 0; half < 2; ++half)
#pragma unroll
            for (uint32_t i = 0; i < rows; ++i) {
              uint32_t of_a[4];
              TileA::read_a(of_a, tile_a, i * 16, within + half * 16);
#pragma unroll
              for (uint32_t j = 0; j < columns; ++j)
                mma_m16n8k16<Item>(*reinterpret_cast<float(*)[4]>(sums + (i * columns + j) * 4), of_a,
                                   fragments[j][half]);
            }
        }
        cp_async_wait<stages - 2>();
        __syncthreads();
        slot = slot + 1 == stages ? 0 : slot + 1;
      }
      Sums::template store<Item>(p, place_of_tile<Shape::m, Shape::n>(p), totals, sums,
                                 reinterpret_cast<float*>(memory) + warp * 16 * Sums::pitch, 0, warp * own_n);
    }
  }
};

}  // namespace ferrule::cuda

// The kernels of a shape: name_<dtype>_<blocks>. `...`: see FERRULE_KERNEL.
#define BLOCK_PRODUCT(name, Shape, dtype, Item, blocks, Block, ...)                \
  FERRULE_KERNEL(name##_##dtype##_##blocks, MatmulBlocksParameters, __VA_ARGS__) { \
    BlockProduct<Shape>::run<Item, Block>(p);                                      \
  }
#define BLOCK_PRODUCTS_OF(name, Shape, dtype, Item, ...)                \
  BLOCK_PRODUCT(name, Shape, dtype, Item, q8_0, BlockQ8_0, __VA_ARGS__) \
  BLOCK_PRODUCT(name, Shape, dtype, Item, q4_0, BlockQ4_0, __VA_ARGS__) \
  BLOCK_PRODUCT(name, Shape, dtype, Item, q4_K, BlockQ4K, __VA_ARGS__)  \
  BLOCK_PRODUCT(name, Shape, dtype, Item, q6_K, BlockQ6K, __VA_ARGS__)
#define BLOCK_PRODUCTS(name, Shape, ...)                 \
  BLOCK_PRODUCTS_OF(name, Shape, f16, Half, __VA_ARGS__) \
  BLOCK_PRODUCTS_OF(name, Shape, bf16, BFloat16, __VA_ARGS__)
