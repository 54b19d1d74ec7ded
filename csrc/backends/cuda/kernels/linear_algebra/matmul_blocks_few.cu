// Products of a few rows of float32 with weights in blocks. A warp computes one segment of 32 columns: a lane decodes
// the elements of its column in the order of K and adds their products with each row. The block then adds the segments.
//
// The weights, and the order of additions, are those of the product with the decoded B (matmul.cu), which serves more
// rows. Limits: the bytes of the blocks, and five instructions for each weight.
#include "kernels/linear_algebra/matmul_blocks_tiles.h"

namespace ferrule::cuda {
namespace {

// `WORDS` words from an even byte of a column's chunks on, read as whole chunks: 32 lanes read different columns.
template <bool IS_ALIGNED, int WORDS>
__device__ __forceinline__ void read_words(uint32_t (&to)[WORDS], const BlockChunk* column, uint32_t byte) {
  constexpr int chunks = IS_ALIGNED ? WORDS / 4 : (WORDS * 4 + 14 + 15) / 16;
  const uint4* const from = reinterpret_cast<const uint4*>(column) + byte / 16;
  uint32_t words[chunks * 4 + 1];
#pragma unroll
  for (int i = 0; i < chunks; ++i) {
    const uint4 chunk = from[i];
    words[i * 4] = chunk.x;
    words[i * 4 + 1] = chunk.y;
    words[i * 4 + 2] = chunk.z;
    words[i * 4 + 3] = chunk.w;
  }
  words[chunks * 4] = 0;
  if constexpr (!IS_ALIGNED) {
    // Static indices only: the shift is done in steps of 8, 4 and 2 bytes.
    const bool by_8 = (byte & 8) != 0, by_4 = (byte & 4) != 0;
#pragma unroll
    for (int i = 0; i < WORDS + 2; ++i) words[i] = by_8 ? words[i + 2 < chunks * 4 ? i + 2 : chunks * 4] : words[i];
#pragma unroll
    for (int i = 0; i < WORDS + 1; ++i) words[i] = by_4 ? words[i + 1] : words[i];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], (byte & 2) * 8);
  }
#pragma unroll
  for (int i = 0; i < WORDS; ++i) to[i] = words[i];
}

// The numbers of part `part` of 256 elements, bytes in the order of K. `shift` is where the blocks begin.
template <class Block>
__device__ __forceinline__ void read_numbers(uint32_t (&to)[8], const BlockChunk* column, uint32_t shift,
                                             uint32_t part);
template <>
[[maybe_unused]] __device__ __forceinline__ void read_numbers<BlockQ8_0>(uint32_t (&to)[8], const BlockChunk* column,
                                                                         uint32_t shift, uint32_t part) {
  read_words<false>(to, column, shift + part * sizeof(BlockQ8_0) + 2);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] ^= 0x80808080u;
}
template <>
__device__ __forceinline__ void read_numbers<BlockQ4_0>(uint32_t (&to)[8], const BlockChunk* column, uint32_t shift,
                                                        uint32_t part) {
  uint32_t words[4];
  read_words<false>(words, column, shift + part * sizeof(BlockQ4_0) + 2);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] = words[i % 4] >> (i < 4 ? 0 : 4) & 0x0f0f0f0fu;
}
template <>
__device__ __forceinline__ void read_numbers<BlockQ4K>(uint32_t (&to)[8], const BlockChunk* column, uint32_t,
                                                       uint32_t part) {
  read_words<true>(to, column, 16 + part / 2 * 32);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] = to[i] >> part % 2 * 4 & 0x0f0f0f0fu;
}
template <>
[[maybe_unused]] __device__ __forceinline__ void read_numbers<BlockQ6K>(uint32_t (&to)[8], const BlockChunk* column,
                                                                        uint32_t shift, uint32_t part) {
  const uint32_t half = part / 4, quarter = part % 4;
  uint32_t high[8];
  read_words<false>(to, column, shift + half * 64 + quarter % 2 * 32);
  read_words<false>(high, column, shift + 128 + half * 32);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    to[i] = (to[i] >> quarter / 2 * 4 & 0x0f0f0f0fu) | (high[i] >> quarter * 2 & 0x03030303u) << 4;
}

// Adds the products of 32 elements, in order. `items` are those of the rows, 256 for each.
template <int ROWS, class Weight>
__device__ __forceinline__ void add_part(float (&sums)[ROWS], const float* items, const uint32_t (&numbers)[8],
                                         Weight weight) {
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i) {
    float weights[4];
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) weights[j] = weight(numbers[i], j, i / 4);
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
      const auto four = *reinterpret_cast<const Pack<float, 4>*>(items + row * 256 + i * 4);
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[row] = fmaf(four.of[j], weights[j], sums[row]);
    }
  }
}

// A GPU without cp.async, of compute capability 7.5, has 64 KB of shared memory for a block.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr uint32_t most_shared = 65536;
#else
constexpr uint32_t most_shared = 232448;
#endif

template <class Block, int ROWS>
__device__ __forceinline__ void multiply_rows(const MatmulBlocksParameters& q) {
  using Chunks = BlockChunks<Block>;
  constexpr uint32_t warps = FewBlockRows::warps, stages = FewBlockRows::stages, columns = FewBlockRows::columns;
  constexpr uint32_t tile = columns * Chunks::pitch, threads = warps * 32, sums_count = ROWS * columns;
  static_assert(columns == 32 && stages == 2);
  FERRULE_DYNAMIC_SHARED(BlockChunk, memory);
  FERRULE_SHARED(float, partials, [warps][ROWS][columns]);
  FERRULE_SHARED(float, totals, [sums_count]);

  const MatmulParameters& p = q.product;
  const TilePlace place = place_of_tile<ROWS, columns>(p);
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const BlockColumns<Block> b(q, place.batch, place.first_n);
  BlockChunk* const own_tiles = memory + warp * stages * tile;
  float* const own_rows = reinterpret_cast<float*>(memory + warps * stages * tile) + warp * ROWS * 256;
  const float* const a =
      pointer<const float>(p.a) + offset_of(p.a_batches, place.batch) + place.first_m * p.a_row + lane * p.a_column;
  for (uint32_t i = threadIdx.x; i < sums_count; i += threads) totals[i] = 0;

  // Any segment lies within this many groups of 256 elements, as its length is a multiple of 128.
  const uint32_t groups = (p.segment + 255) / 256;
  for (uint32_t first_segment = 0; first_segment < p.segments; first_segment += warps) {
    const uint32_t segment = first_segment + warp;
    if (segment < p.segments) {
      const uint32_t start = segment * p.segment, stop = p.k - start > p.segment ? start + p.segment : p.k;
      const auto copy = [&](uint32_t number) {
        const uint32_t group = start / 256 + number;
        if (number < groups && group * 256 < stop) {
#pragma unroll 1
          for (uint32_t i = 0; i < Chunks::count; ++i) {
            const uint32_t chunk = i * 32 + lane;
            b.copy(own_tiles + number % stages * tile, chunk / Chunks::count, chunk % Chunks::count, group);
          }
        }
        cp_async_commit();
      };
      float sums[ROWS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) sums[i] = 0;
      copy(0);
#pragma unroll 1
      for (uint32_t number = 0; number < groups; ++number) {
        copy(number + 1);
        const uint32_t group = start / 256 + number;
#pragma unroll 1
        for (int row = 0; row < ROWS; ++row) {
          if (place.first_m + row >= p.m) break;
#pragma unroll
          for (uint32_t i = 0; i < 256; i += 32)
            if (group * 256 + i < stop)
              own_rows[row * 256 + i + lane] = a[row * p.a_row + (group * 256 + i) * p.a_column];
        }
        cp_async_wait<1>();
        __syncwarp();
        const BlockChunk* const column = own_tiles + number % stages * tile + lane * Chunks::pitch;
        const uint32_t shift = b.shift(lane, group);
#pragma unroll 1
        for (uint32_t part = 0; part < 8; ++part) {
          const uint32_t k = group * 256 + part * 32;
          if (k < start || k >= stop) continue;
          const PartScales<Block> scales(reinterpret_cast<const uint8_t*>(column) + shift, part);
          uint32_t numbers[8];
          read_numbers<Block>(numbers, column, shift, part);
          const float* const items = own_rows + part * 32;
          if (ROWS < 8 && scales.is_fast())  // with many rows, decoding is the smaller part
            add_part<ROWS>(sums, items, numbers, [&](uint32_t bytes, uint32_t i, uint32_t half) {
              return scales.fast_weight(bytes, i, half);
            });
          else
            add_part<ROWS>(sums, items, numbers,
                           [&](uint32_t bytes, uint32_t i, uint32_t half) { return scales.weight(bytes, i, half); });
        }
        __syncwarp();
      }
#pragma unroll
      for (int row = 0; row < ROWS; ++row) partials[warp][row][lane] = sums[row];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < sums_count; i += threads)
      for (uint32_t other = 0; other < warps && first_segment + other < p.segments; ++other)
        totals[i] += partials[other][i / columns][i % columns];
    __syncthreads();
  }
  for (uint32_t i = threadIdx.x; i < sums_count; i += threads)
    store_sums<float>(p, place, place.first_m + i / columns, place.first_n + i % columns, Pack<float, 1>{{totals[i]}});
}

template <class Block, int ROWS>
__device__ __forceinline__ void multiply(const MatmulBlocksParameters& q) {
  constexpr uint32_t shared = FewBlockRows::shared_bytes<Block> + ROWS * FewBlockRows::shared_bytes_of_row;
  if constexpr (shared <= most_shared) multiply_rows<Block, ROWS>(q);
}

}  // namespace

// Two blocks on a multiprocessor: shared memory holds no more than five, so that registers for them are not scarce.
FERRULE_KERNEL(matmul_blocks_few_1_q8_0, MatmulBlocksParameters, 128, 2) { multiply<BlockQ8_0, 1>(p); }
FERRULE_KERNEL(matmul_blocks_few_4_q8_0, MatmulBlocksParameters, 128, 2) { multiply<BlockQ8_0, 4>(p); }
FERRULE_KERNEL(matmul_blocks_few_8_q8_0, MatmulBlocksParameters, 128, 2) { multiply<BlockQ8_0, 8>(p); }
FERRULE_KERNEL(matmul_blocks_few_1_q4_0, MatmulBlocksParameters, 128, 2) { multiply<BlockQ4_0, 1>(p); }
FERRULE_KERNEL(matmul_blocks_few_4_q4_0, MatmulBlocksParameters, 128, 2) { multiply<BlockQ4_0, 4>(p); }
FERRULE_KERNEL(matmul_blocks_few_8_q4_0, MatmulBlocksParameters, 128, 2) { multiply<BlockQ4_0, 8>(p); }
FERRULE_KERNEL(matmul_blocks_few_1_q4_K, MatmulBlocksParameters, 128, 2) { multiply<BlockQ4K, 1>(p); }
FERRULE_KERNEL(matmul_blocks_few_4_q4_K, MatmulBlocksParameters, 128, 2) { multiply<BlockQ4K, 4>(p); }
FERRULE_KERNEL(matmul_blocks_few_8_q4_K, MatmulBlocksParameters, 128, 2) { multiply<BlockQ4K, 8>(p); }
FERRULE_KERNEL(matmul_blocks_few_1_q6_K, MatmulBlocksParameters, 128, 2) { multiply<BlockQ6K, 1>(p); }
FERRULE_KERNEL(matmul_blocks_few_4_q6_K, MatmulBlocksParameters, 128, 2) { multiply<BlockQ6K, 4>(p); }
FERRULE_KERNEL(matmul_blocks_few_8_q6_K, MatmulBlocksParameters, 128, 2) { multiply<BlockQ6K, 8>(p); }

}  // namespace ferrule::cuda
