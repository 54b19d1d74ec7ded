// The tiles of matmul_rows.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {
namespace {

using Product = TensorTile<16, 32, 128, 1, 2, 4>;
static_assert(Product::threads == 64);

}  // namespace

FERRULE_KERNEL(matmul_rows_then_f16, MatmulThenParameters, 64) { multiply_then<Product, Half>(p); }
FERRULE_KERNEL(matmul_rows_then_bf16, MatmulThenParameters, 64) { multiply_then<Product, BFloat16>(p); }

}  // namespace ferrule::cuda
