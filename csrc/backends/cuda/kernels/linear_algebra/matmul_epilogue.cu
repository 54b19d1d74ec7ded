// Products of float32 without matrix instructions, in the smaller tiles of matmul.cu, with the ops that are fused to
// them.
#include "kernels/linear_algebra/matmul_scalar.h"
#include "kernels/linear_algebra/run_epilogue.h"

namespace ferrule::cuda {
namespace {

template <int M, int N, int DEPTH, int OWN_M, int OWN_N>
__device__ __forceinline__ void multiply_with_epilogue(const MatmulEpilogueParameters& q) {
  multiply<float, float, M, N, DEPTH, OWN_M, OWN_N, Along::either, Along::either>(
      q.product, [&](const TilePlace& place, uint32_t row, uint32_t column, const Pack<float, 4>& sums) {
        finish_sums(q.product, q.epilogue, place, row, column, sums);
      });
}

}  // namespace

FERRULE_KERNEL(matmul_epilogue_f32_64x64, MatmulEpilogueParameters, 256, 3) {
  multiply_with_epilogue<64, 64, 16, 4, 4>(p);
}
FERRULE_KERNEL(matmul_epilogue_f32_32x32, MatmulEpilogueParameters, 256) {
  multiply_with_epilogue<32, 32, 32, 2, 2>(p);
}
FERRULE_KERNEL(matmul_epilogue_f32_16x128, MatmulEpilogueParameters, 128) {
  multiply_with_epilogue<16, 128, 32, 8, 2>(p);
}
FERRULE_KERNEL(matmul_epilogue_f32_4x128, MatmulEpilogueParameters, 128, 4) {
  multiply_with_epilogue<4, 128, 32, 2, 2>(p);
}

}  // namespace ferrule::cuda
