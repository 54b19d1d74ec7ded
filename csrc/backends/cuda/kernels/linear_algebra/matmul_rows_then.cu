// The tiles of matmul_rows.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {

static_assert(RowsTile::threads == 64);

FERRULE_KERNEL(matmul_rows_then_f16, MatmulThenParameters, 64, 4) { multiply_then<RowsTile, Half>(p); }
FERRULE_KERNEL(matmul_rows_then_bf16, MatmulThenParameters, 64, 4) { multiply_then<RowsTile, BFloat16>(p); }

}  // namespace ferrule::cuda
