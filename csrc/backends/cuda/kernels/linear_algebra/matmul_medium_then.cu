// The tiles of matmul_medium.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {

static_assert(MediumTile::threads == 128);

FERRULE_KERNEL(matmul_medium_then_f16, MatmulThenParameters, 128) { multiply_then<MediumTile, Half>(p); }
FERRULE_KERNEL(matmul_medium_then_bf16, MatmulThenParameters, 128) { multiply_then<MediumTile, BFloat16>(p); }

}  // namespace ferrule::cuda
