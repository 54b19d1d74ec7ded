// The tiles of matmul_small.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {
namespace {

using Product = TensorTile<64, 64, 32, 2, 2, 4>;
static_assert(Product::threads == 128);

}  // namespace

FERRULE_KERNEL(matmul_small_then_f16, MatmulThenParameters, 128) { multiply_then<Product, Half>(p); }
FERRULE_KERNEL(matmul_small_then_bf16, MatmulThenParameters, 128) { multiply_then<Product, BFloat16>(p); }

}  // namespace ferrule::cuda
