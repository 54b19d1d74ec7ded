// The tiles of matmul_large.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_epilogue.h"

namespace ferrule::cuda {

static_assert(LargeTile::threads == 256);

FERRULE_KERNEL(matmul_large_epilogue_f16, MatmulEpilogueParameters, 256) { multiply_with_epilogue<LargeTile, Half>(p); }
FERRULE_KERNEL(matmul_large_epilogue_bf16, MatmulEpilogueParameters, 256) {
  multiply_with_epilogue<LargeTile, BFloat16>(p);
}

}  // namespace ferrule::cuda
