// Tiles of 64 x 16, for up to 16 columns. The last letters are the axes along which A and B are
// contiguous.
#include "kernels/linear_algebra/matmul_tensor.h"

namespace ferrule::cuda {
namespace {

using Product = TensorTile<64, 16, 128, 4, 1, 3>;
static_assert(Product::threads == 128);

}  // namespace

FERRULE_KERNEL(matmul_columns_f16_kk, MatmulParameters, 128) { Product::run<Half, true, true>(p); }
FERRULE_KERNEL(matmul_columns_f16_kn, MatmulParameters, 128) { Product::run<Half, true, false>(p); }
FERRULE_KERNEL(matmul_columns_f16_mk, MatmulParameters, 128) { Product::run<Half, false, true>(p); }
FERRULE_KERNEL(matmul_columns_f16_mn, MatmulParameters, 128) { Product::run<Half, false, false>(p); }
FERRULE_KERNEL(matmul_columns_bf16_kk, MatmulParameters, 128) { Product::run<BFloat16, true, true>(p); }
FERRULE_KERNEL(matmul_columns_bf16_kn, MatmulParameters, 128) { Product::run<BFloat16, true, false>(p); }
FERRULE_KERNEL(matmul_columns_bf16_mk, MatmulParameters, 128) { Product::run<BFloat16, false, true>(p); }
FERRULE_KERNEL(matmul_columns_bf16_mn, MatmulParameters, 128) { Product::run<BFloat16, false, false>(p); }

}  // namespace ferrule::cuda
