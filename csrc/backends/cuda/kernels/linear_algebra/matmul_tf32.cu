// Products of float32 that are rounded to tf32, if the option `tf32` asks for it, in the tiles of matmul.cpp.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(LargeTile::threads == 256 && MediumTile::threads == 128 && SmallTile::threads == 128 &&
              RowsTile::threads == 64 && ColumnsTile::threads == 128);

TENSOR_PRODUCTS(matmul_tf32_large, LargeTile, float, 256)
TENSOR_PRODUCTS(matmul_tf32_medium, MediumTile, float, 128)
TENSOR_PRODUCTS(matmul_tf32_small, SmallTile, float, 128)
TENSOR_PRODUCTS(matmul_tf32_rows, RowsTile, float, 64)
TENSOR_PRODUCTS(matmul_tf32_columns, ColumnsTile, float, 128, 3)

}  // namespace ferrule::cuda
