// The tiles of matmul_columns.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {

static_assert(ColumnsTile::threads == 128);

// Three blocks on a multiprocessor: shared memory holds no more.
FERRULE_KERNEL(matmul_columns_then_f16, MatmulThenParameters, 128, 3) { multiply_then<ColumnsTile, Half>(p); }
FERRULE_KERNEL(matmul_columns_then_bf16, MatmulThenParameters, 128, 3) { multiply_then<ColumnsTile, BFloat16>(p); }

}  // namespace ferrule::cuda
