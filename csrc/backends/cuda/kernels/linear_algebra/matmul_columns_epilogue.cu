// The tiles of matmul_columns.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_epilogue.h"

namespace ferrule::cuda {

static_assert(ColumnsTile::threads == 128);

// Three blocks on a multiprocessor: shared memory holds no more.
FERRULE_KERNEL(matmul_columns_epilogue_f16, MatmulEpilogueParameters, 128, 3) {
  multiply_with_epilogue<ColumnsTile, Half>(p);
}
FERRULE_KERNEL(matmul_columns_epilogue_bf16, MatmulEpilogueParameters, 128, 3) {
  multiply_with_epilogue<ColumnsTile, BFloat16>(p);
}

}  // namespace ferrule::cuda
