// Tiles of 64 x 16, for up to 16 columns. The last letters are the axes along which A and B are contiguous. Shared
// memory has room for three blocks, so registers for more would be spilled in vain.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(ColumnsTile::threads == 128);

FERRULE_KERNEL(matmul_columns_f16_kk, MatmulParameters, 128, 3) { ColumnsTile::run<Half, true, true>(p); }
FERRULE_KERNEL(matmul_columns_f16_kn, MatmulParameters, 128, 3) { ColumnsTile::run<Half, true, false>(p); }
FERRULE_KERNEL(matmul_columns_f16_mk, MatmulParameters, 128, 3) { ColumnsTile::run<Half, false, true>(p); }
FERRULE_KERNEL(matmul_columns_f16_mn, MatmulParameters, 128, 3) { ColumnsTile::run<Half, false, false>(p); }
FERRULE_KERNEL(matmul_columns_bf16_kk, MatmulParameters, 128, 3) { ColumnsTile::run<BFloat16, true, true>(p); }
FERRULE_KERNEL(matmul_columns_bf16_kn, MatmulParameters, 128, 3) { ColumnsTile::run<BFloat16, true, false>(p); }
FERRULE_KERNEL(matmul_columns_bf16_mk, MatmulParameters, 128, 3) { ColumnsTile::run<BFloat16, false, true>(p); }
FERRULE_KERNEL(matmul_columns_bf16_mn, MatmulParameters, 128, 3) { ColumnsTile::run<BFloat16, false, false>(p); }

}  // namespace ferrule::cuda
