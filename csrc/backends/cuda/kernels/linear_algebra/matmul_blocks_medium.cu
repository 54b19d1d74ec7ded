// Products of halves with blocks: tiles of 64 x 64.
#include "kernels/linear_algebra/matmul_blocks_tensor.h"

namespace ferrule::cuda {
namespace {

using Product = BlockProduct<BlockMedium>;

}  // namespace

// Four blocks on a multiprocessor: shared memory holds three to five.
FERRULE_KERNEL(matmul_blocks_medium_f16_q8_0, MatmulBlocksParameters, BlockMedium::threads, 4) {
  Product::run<Half, BlockQ8_0>(p);
}
FERRULE_KERNEL(matmul_blocks_medium_f16_q4_0, MatmulBlocksParameters, BlockMedium::threads, 4) {
  Product::run<Half, BlockQ4_0>(p);
}
FERRULE_KERNEL(matmul_blocks_medium_f16_q4_K, MatmulBlocksParameters, BlockMedium::threads, 4) {
  Product::run<Half, BlockQ4K>(p);
}
FERRULE_KERNEL(matmul_blocks_medium_f16_q6_K, MatmulBlocksParameters, BlockMedium::threads, 4) {
  Product::run<Half, BlockQ6K>(p);
}
FERRULE_KERNEL(matmul_blocks_medium_bf16_q8_0, MatmulBlocksParameters, BlockMedium::threads, 4) {
  Product::run<BFloat16, BlockQ8_0>(p);
}
FERRULE_KERNEL(matmul_blocks_medium_bf16_q4_0, MatmulBlocksParameters, BlockMedium::threads, 4) {
  Product::run<BFloat16, BlockQ4_0>(p);
}
FERRULE_KERNEL(matmul_blocks_medium_bf16_q4_K, MatmulBlocksParameters, BlockMedium::threads, 4) {
  Product::run<BFloat16, BlockQ4K>(p);
}
FERRULE_KERNEL(matmul_blocks_medium_bf16_q6_K, MatmulBlocksParameters, BlockMedium::threads, 4) {
  Product::run<BFloat16, BlockQ6K>(p);
}

}  // namespace ferrule::cuda
