// Tiles of 64 x 64, for matrices that larger tiles would leave most multiprocessors without work for. The last letters
// are the axes along which A and B are contiguous.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {

static_assert(SmallTile::threads == 128);

FERRULE_KERNEL(matmul_small_f16_kk, MatmulParameters, 128, 4) { SmallTile::run<Half, true, true>(p); }
FERRULE_KERNEL(matmul_small_f16_kn, MatmulParameters, 128, 4) { SmallTile::run<Half, true, false>(p); }
FERRULE_KERNEL(matmul_small_f16_mk, MatmulParameters, 128, 4) { SmallTile::run<Half, false, true>(p); }
FERRULE_KERNEL(matmul_small_f16_mn, MatmulParameters, 128, 4) { SmallTile::run<Half, false, false>(p); }
FERRULE_KERNEL(matmul_small_bf16_kk, MatmulParameters, 128, 4) { SmallTile::run<BFloat16, true, true>(p); }
FERRULE_KERNEL(matmul_small_bf16_kn, MatmulParameters, 128, 4) { SmallTile::run<BFloat16, true, false>(p); }
FERRULE_KERNEL(matmul_small_bf16_mk, MatmulParameters, 128, 4) { SmallTile::run<BFloat16, false, true>(p); }
FERRULE_KERNEL(matmul_small_bf16_mn, MatmulParameters, 128, 4) { SmallTile::run<BFloat16, false, false>(p); }

}  // namespace ferrule::cuda
