// The tiles of matmul_small.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_epilogue.h"

namespace ferrule::cuda {

static_assert(SmallTile::threads == 128);

FERRULE_KERNEL(matmul_small_epilogue_f16, MatmulEpilogueParameters, 128, 3) {
  multiply_with_epilogue<SmallTile, Half>(p);
}
FERRULE_KERNEL(matmul_small_epilogue_bf16, MatmulEpilogueParameters, 128, 3) {
  multiply_with_epilogue<SmallTile, BFloat16>(p);
}

}  // namespace ferrule::cuda
