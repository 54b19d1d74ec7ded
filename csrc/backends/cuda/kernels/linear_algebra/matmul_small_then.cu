// The tiles of matmul_small.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {

static_assert(SmallTile::threads == 128);

FERRULE_KERNEL(matmul_small_then_f16, MatmulThenParameters, 128, 3) { multiply_then<SmallTile, Half>(p); }
FERRULE_KERNEL(matmul_small_then_bf16, MatmulThenParameters, 128, 3) { multiply_then<SmallTile, BFloat16>(p); }

}  // namespace ferrule::cuda
