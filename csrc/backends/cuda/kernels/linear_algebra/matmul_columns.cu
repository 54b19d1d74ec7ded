// Tiles of 64 x 16, for up to 16 columns. Shared memory has room for three blocks, so registers for more would be
// spilled in vain.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(ColumnsTile::threads == 128);

TENSOR_PRODUCTS(matmul_columns_f16, ColumnsTile, Half, 128, 3)
TENSOR_PRODUCTS(matmul_columns_bf16, ColumnsTile, BFloat16, 128, 3)

}  // namespace ferrule::cuda
