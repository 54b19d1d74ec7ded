// The tiles of matmul_tf32.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_epilogue.h"

namespace ferrule::cuda {

FERRULE_KERNEL(matmul_tf32_epilogue_large, MatmulEpilogueParameters, 256) {
  multiply_with_epilogue<LargeTile, float>(p);
}
FERRULE_KERNEL(matmul_tf32_epilogue_medium, MatmulEpilogueParameters, 128) {
  multiply_with_epilogue<MediumTile, float>(p);
}
FERRULE_KERNEL(matmul_tf32_epilogue_small, MatmulEpilogueParameters, 128, 4) {
  multiply_with_epilogue<SmallTile, float>(p);
}
FERRULE_KERNEL(matmul_tf32_epilogue_rows, MatmulEpilogueParameters, 64, 4) {
  multiply_with_epilogue<RowsTile, float>(p);
}
FERRULE_KERNEL(matmul_tf32_epilogue_columns, MatmulEpilogueParameters, 128, 3) {
  multiply_with_epilogue<ColumnsTile, float>(p);
}

}  // namespace ferrule::cuda
