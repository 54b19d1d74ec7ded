// Products of halves with blocks: tiles of 128 x 128.
#include "kernels/linear_algebra/matmul_blocks_tensor.h"

namespace ferrule::cuda {

BLOCK_PRODUCTS(matmul_blocks_large, BlockLarge, BlockLarge::threads)

}  // namespace ferrule::cuda
