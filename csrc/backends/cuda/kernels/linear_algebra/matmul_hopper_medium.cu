// Tiles of 128 x 128 by wgmma. The last letters are the axes along which A and B are contiguous.
#include "kernels/linear_algebra/matmul_hopper_tiles.h"

namespace ferrule::cuda {

static_assert(HopperMedium::threads == 384);

FERRULE_KERNEL(matmul_hopper_medium_f16_kk, MatmulHopperParameters, 384) {
  run_hopper<HopperMedium, Half, true, true>(p);
}
FERRULE_KERNEL(matmul_hopper_medium_f16_kn, MatmulHopperParameters, 384) {
  run_hopper<HopperMedium, Half, true, false>(p);
}
FERRULE_KERNEL(matmul_hopper_medium_f16_mk, MatmulHopperParameters, 384) {
  run_hopper<HopperMedium, Half, false, true>(p);
}
FERRULE_KERNEL(matmul_hopper_medium_f16_mn, MatmulHopperParameters, 384) {
  run_hopper<HopperMedium, Half, false, false>(p);
}
FERRULE_KERNEL(matmul_hopper_medium_bf16_kk, MatmulHopperParameters, 384) {
  run_hopper<HopperMedium, BFloat16, true, true>(p);
}
FERRULE_KERNEL(matmul_hopper_medium_bf16_kn, MatmulHopperParameters, 384) {
  run_hopper<HopperMedium, BFloat16, true, false>(p);
}
FERRULE_KERNEL(matmul_hopper_medium_bf16_mk, MatmulHopperParameters, 384) {
  run_hopper<HopperMedium, BFloat16, false, true>(p);
}
FERRULE_KERNEL(matmul_hopper_medium_bf16_mn, MatmulHopperParameters, 384) {
  run_hopper<HopperMedium, BFloat16, false, false>(p);
}

}  // namespace ferrule::cuda
