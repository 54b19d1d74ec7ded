// Products of halves with blocks: tiles of 128 x 128.
#include "kernels/linear_algebra/matmul_blocks_tensor.h"

namespace ferrule::cuda {
namespace {

using Product = BlockProduct<BlockLarge>;

}  // namespace

FERRULE_KERNEL(matmul_blocks_large_f16_q8_0, MatmulBlocksParameters, BlockLarge::threads) {
  Product::run<Half, BlockQ8_0>(p);
}
FERRULE_KERNEL(matmul_blocks_large_f16_q4_0, MatmulBlocksParameters, BlockLarge::threads) {
  Product::run<Half, BlockQ4_0>(p);
}
FERRULE_KERNEL(matmul_blocks_large_f16_q4_K, MatmulBlocksParameters, BlockLarge::threads) {
  Product::run<Half, BlockQ4K>(p);
}
FERRULE_KERNEL(matmul_blocks_large_f16_q6_K, MatmulBlocksParameters, BlockLarge::threads) {
  Product::run<Half, BlockQ6K>(p);
}
FERRULE_KERNEL(matmul_blocks_large_bf16_q8_0, MatmulBlocksParameters, BlockLarge::threads) {
  Product::run<BFloat16, BlockQ8_0>(p);
}
FERRULE_KERNEL(matmul_blocks_large_bf16_q4_0, MatmulBlocksParameters, BlockLarge::threads) {
  Product::run<BFloat16, BlockQ4_0>(p);
}
FERRULE_KERNEL(matmul_blocks_large_bf16_q4_K, MatmulBlocksParameters, BlockLarge::threads) {
  Product::run<BFloat16, BlockQ4K>(p);
}
FERRULE_KERNEL(matmul_blocks_large_bf16_q6_K, MatmulBlocksParameters, BlockLarge::threads) {
  Product::run<BFloat16, BlockQ6K>(p);
}

}  // namespace ferrule::cuda
