// Tiles of 128 x 128; two blocks fit on a multiprocessor of compute capability 8.0 and 9.0.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(MediumTile::threads == 128);

TENSOR_PRODUCTS(matmul_medium_f16, MediumTile, Half, 128)
TENSOR_PRODUCTS(matmul_medium_bf16, MediumTile, BFloat16, 128)

}  // namespace ferrule::cuda
