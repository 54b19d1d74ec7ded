// Products whose B is stored in blocks of the BLOCK_DTYPES (blocks.h): their parameters, the layout of blocks in shared
// memory, and the tiles of the kernels.
#pragma once

#include "kernels/conversion/blocks.h"
#include "kernels/linear_algebra/matmul.h"

namespace ferrule::cuda {

// A column of B is a row of blocks along K. `product` is as for the decoded B: its strides count elements, and b_row is
// 1. K, b_column and the strides of the batches are multiples of the elements of a block.
struct MatmulBlocksParameters {
  MatmulParameters product;
  uint64_t first_byte;  // of B, from product.b on
};

// Layout of the blocks of 256 elements of a column in shared memory: chunks of 16 bytes, from the chunk on that has the
// first byte. Only blocks of a multiple of 16 bytes begin with a chunk. The pitch from one column to the next is an odd
// number of chunks, so that the same byte of eight columns lies in different banks.
template <class Block>
struct BlockChunks {
  static constexpr uint32_t bytes = sizeof(Block) * 256 / Block::elements;
  static constexpr bool is_aligned = sizeof(Block) % 16 == 0;
  static constexpr uint32_t count = (bytes + (is_aligned ? 0 : 14) + 15) / 16;
  static constexpr uint32_t pitch = count | 1;
};

// A tile of M x N elements of the result, computed with matrix instructions by WARPS warps, each of which has all of M.
template <int M, int N, int DEPTH, int WARPS, int STAGES>
struct BlockTileShape {
  static constexpr uint32_t m = M, n = N, depth = DEPTH, warps = WARPS, threads = 32 * WARPS, stages = STAGES;
  // Groups of 256 elements along K that are computed, or copied ahead.
  static constexpr uint32_t block_stages = ((STAGES - 1) * DEPTH + 255) / 256 + 1;
  static constexpr uint32_t chunks_of_a = M * DEPTH / 8;
  template <class Block>
  static constexpr uint32_t shared_bytes = 16 * (chunks_of_a * STAGES + N * BlockChunks<Block>::pitch * block_stages);
};
using BlockRows = BlockTileShape<16, 32, 128, 2, 6>;
using BlockMedium = BlockTileShape<64, 64, 64, 4, 3>;
using BlockLarge = BlockTileShape<128, 128, 64, 4, 3>;

// Tiles of matmul_blocks_few.cu: a warp computes 32 columns and one segment.
struct FewBlockRows {
  static constexpr uint32_t columns = 32, warps = 4, stages = 2, most_rows = 8;
  template <class Block>
  static constexpr uint32_t shared_bytes = 16 * columns* warps* stages* BlockChunks<Block>::pitch;
  static constexpr uint32_t shared_bytes_of_row = 4 * 256 * warps;
};

}  // namespace ferrule::cuda
