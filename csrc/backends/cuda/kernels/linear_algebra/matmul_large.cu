// Tiles of 128 x 256, for matrices that give each multiprocessor one. The last letters are the axes along which A and B
// are contiguous.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(LargeTile::threads == 256);

FERRULE_KERNEL(matmul_large_f16_kk, MatmulParameters, 256) { LargeTile::run<Half, true, true>(p); }
FERRULE_KERNEL(matmul_large_f16_kn, MatmulParameters, 256) { LargeTile::run<Half, true, false>(p); }
FERRULE_KERNEL(matmul_large_f16_mk, MatmulParameters, 256) { LargeTile::run<Half, false, true>(p); }
FERRULE_KERNEL(matmul_large_f16_mn, MatmulParameters, 256) { LargeTile::run<Half, false, false>(p); }
FERRULE_KERNEL(matmul_large_bf16_kk, MatmulParameters, 256) { LargeTile::run<BFloat16, true, true>(p); }
FERRULE_KERNEL(matmul_large_bf16_kn, MatmulParameters, 256) { LargeTile::run<BFloat16, true, false>(p); }
FERRULE_KERNEL(matmul_large_bf16_mk, MatmulParameters, 256) { LargeTile::run<BFloat16, false, true>(p); }
FERRULE_KERNEL(matmul_large_bf16_mn, MatmulParameters, 256) { LargeTile::run<BFloat16, false, false>(p); }

}  // namespace ferrule::cuda
