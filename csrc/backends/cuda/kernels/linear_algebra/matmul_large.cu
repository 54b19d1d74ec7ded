// Tiles of 128 x 256, for matrices that give each multiprocessor one.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(LargeTile::threads == 256);

TENSOR_PRODUCTS(matmul_large_f16, LargeTile, Half, 256)
TENSOR_PRODUCTS(matmul_large_bf16, LargeTile, BFloat16, 256)

}  // namespace ferrule::cuda
