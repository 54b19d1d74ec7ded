// Tiles of 64 x 64, for matrices that larger tiles would leave most multiprocessors without work for.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(SmallTile::threads == 128);

TENSOR_PRODUCTS(matmul_small_f16, SmallTile, Half, 128, 4)
TENSOR_PRODUCTS(matmul_small_bf16, SmallTile, BFloat16, 128, 4)

}  // namespace ferrule::cuda
