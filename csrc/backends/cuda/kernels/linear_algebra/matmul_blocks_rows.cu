// Products of halves with blocks: tiles of up to 16 rows.
#include "kernels/linear_algebra/matmul_blocks_tensor.h"

namespace ferrule::cuda {

BLOCK_PRODUCTS(matmul_blocks_rows, BlockRows, BlockRows::threads)

}  // namespace ferrule::cuda
