// The tiles of matmul_tf32.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {

FERRULE_KERNEL(matmul_tf32_then_large, MatmulThenParameters, 256) { multiply_then<LargeTile, float>(p); }
FERRULE_KERNEL(matmul_tf32_then_medium, MatmulThenParameters, 128) { multiply_then<MediumTile, float>(p); }
FERRULE_KERNEL(matmul_tf32_then_small, MatmulThenParameters, 128, 4) { multiply_then<SmallTile, float>(p); }
FERRULE_KERNEL(matmul_tf32_then_rows, MatmulThenParameters, 64, 4) { multiply_then<RowsTile, float>(p); }
FERRULE_KERNEL(matmul_tf32_then_columns, MatmulThenParameters, 128, 3) { multiply_then<ColumnsTile, float>(p); }

}  // namespace ferrule::cuda
