// The tiles of matmul_large.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {

static_assert(LargeTile::threads == 256);

FERRULE_KERNEL(matmul_large_then_f16, MatmulThenParameters, 256) { multiply_then<LargeTile, Half>(p); }
FERRULE_KERNEL(matmul_large_then_bf16, MatmulThenParameters, 256) { multiply_then<LargeTile, BFloat16>(p); }

}  // namespace ferrule::cuda
