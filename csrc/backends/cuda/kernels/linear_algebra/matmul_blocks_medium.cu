// Products of halves with blocks: tiles of 64 x 64.
#include "kernels/linear_algebra/matmul_blocks_tensor.h"

namespace ferrule::cuda {

// Four blocks on a multiprocessor: shared memory holds three to five.
BLOCK_PRODUCTS(matmul_blocks_medium, BlockMedium, BlockMedium::threads, 4)

}  // namespace ferrule::cuda
