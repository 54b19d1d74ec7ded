// The tiles of matmul_rows.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_epilogue.h"

namespace ferrule::cuda {

static_assert(RowsTile::threads == 64);

FERRULE_KERNEL(matmul_rows_epilogue_f16, MatmulEpilogueParameters, 64, 4) { multiply_with_epilogue<RowsTile, Half>(p); }
FERRULE_KERNEL(matmul_rows_epilogue_bf16, MatmulEpilogueParameters, 64, 4) {
  multiply_with_epilogue<RowsTile, BFloat16>(p);
}

}  // namespace ferrule::cuda
