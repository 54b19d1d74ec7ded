// The tiles of matmul_columns.cu, with the ops that are fused to the product.
#include "kernels/linear_algebra/matmul_tensor_then.h"

namespace ferrule::cuda {
namespace {

using Product = TensorTile<64, 16, 128, 4, 1, 3>;
static_assert(Product::threads == 128);

}  // namespace

// Three blocks on a multiprocessor: shared memory holds no more.
FERRULE_KERNEL(matmul_columns_then_f16, MatmulThenParameters, 128, 3) { multiply_then<Product, Half>(p); }
FERRULE_KERNEL(matmul_columns_then_bf16, MatmulThenParameters, 128, 3) { multiply_then<Product, BFloat16>(p); }

}  // namespace ferrule::cuda
