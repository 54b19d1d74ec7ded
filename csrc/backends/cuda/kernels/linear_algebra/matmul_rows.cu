// Tiles of 16 x 32, for up to 16 rows.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(RowsTile::threads == 64);

TENSOR_PRODUCTS(matmul_rows_f16, RowsTile, Half, 64)
TENSOR_PRODUCTS(matmul_rows_bf16, RowsTile, BFloat16, 64)

}  // namespace ferrule::cuda
