// Tiles of 128 x 128; two blocks fit on a multiprocessor of compute capability 8.0 and 9.0. The last letters are the
// axes along which A and B are contiguous.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(MediumTile::threads == 128);

FERRULE_KERNEL(matmul_medium_f16_kk, MatmulParameters, 128) { MediumTile::run<Half, true, true>(p); }
FERRULE_KERNEL(matmul_medium_f16_kn, MatmulParameters, 128) { MediumTile::run<Half, true, false>(p); }
FERRULE_KERNEL(matmul_medium_f16_mk, MatmulParameters, 128) { MediumTile::run<Half, false, true>(p); }
FERRULE_KERNEL(matmul_medium_f16_mn, MatmulParameters, 128) { MediumTile::run<Half, false, false>(p); }
FERRULE_KERNEL(matmul_medium_bf16_kk, MatmulParameters, 128) { MediumTile::run<BFloat16, true, true>(p); }
FERRULE_KERNEL(matmul_medium_bf16_kn, MatmulParameters, 128) { MediumTile::run<BFloat16, true, false>(p); }
FERRULE_KERNEL(matmul_medium_bf16_mk, MatmulParameters, 128) { MediumTile::run<BFloat16, false, true>(p); }
FERRULE_KERNEL(matmul_medium_bf16_mn, MatmulParameters, 128) { MediumTile::run<BFloat16, false, false>(p); }

}  // namespace ferrule::cuda
