// The tiles of matmul_medium.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_epilogue.h"

namespace ferrule::cuda {

static_assert(MediumTile::threads == 128);

FERRULE_KERNEL(matmul_medium_epilogue_f16, MatmulEpilogueParameters, 128) {
  multiply_with_epilogue<MediumTile, Half>(p);
}
FERRULE_KERNEL(matmul_medium_epilogue_bf16, MatmulEpilogueParameters, 128) {
  multiply_with_epilogue<MediumTile, BFloat16>(p);
}

}  // namespace ferrule::cuda
