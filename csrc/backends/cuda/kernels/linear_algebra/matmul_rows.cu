// Tiles of 16 x 32, for up to 16 rows. The last letters are the axes along which A and B are
// contiguous.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(RowsTile::threads == 64);

FERRULE_KERNEL(matmul_rows_f16_kk, MatmulParameters, 64) { RowsTile::run<Half, true, true>(p); }
FERRULE_KERNEL(matmul_rows_f16_kn, MatmulParameters, 64) { RowsTile::run<Half, true, false>(p); }
FERRULE_KERNEL(matmul_rows_f16_mk, MatmulParameters, 64) { RowsTile::run<Half, false, true>(p); }
FERRULE_KERNEL(matmul_rows_f16_mn, MatmulParameters, 64) { RowsTile::run<Half, false, false>(p); }
FERRULE_KERNEL(matmul_rows_bf16_kk, MatmulParameters, 64) { RowsTile::run<BFloat16, true, true>(p); }
FERRULE_KERNEL(matmul_rows_bf16_kn, MatmulParameters, 64) { RowsTile::run<BFloat16, true, false>(p); }
FERRULE_KERNEL(matmul_rows_bf16_mk, MatmulParameters, 64) { RowsTile::run<BFloat16, false, true>(p); }
FERRULE_KERNEL(matmul_rows_bf16_mn, MatmulParameters, 64) { RowsTile::run<BFloat16, false, false>(p); }

}  // namespace ferrule::cuda
