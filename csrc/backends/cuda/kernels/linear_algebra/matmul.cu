// Matrix products without matrix instructions.
#include "kernels/linear_algebra/matmul_scalar.h"

namespace ferrule::cuda {
namespace {

template <Along A_ALONG, Along B_ALONG>
__device__ __forceinline__ void multiply_large(const MatmulParameters& p) {
  multiply<float, float, 128, 128, 8, 8, 8, A_ALONG, B_ALONG>(p);
}

template <class Item, int M, int N, int DEPTH, int OWN_M, int OWN_N>
__device__ __forceinline__ void multiply_halves(const MatmulParameters& p) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
  multiply<Item, float, M, N, DEPTH, OWN_M, OWN_N>(p);
#else
  static_cast<void>(p);
#endif
}

}  // namespace

// Blocks have 256 threads, and for a few rows 128. A bound of 512 leaves 128 registers for a thread, so that two blocks
// fit on a multiprocessor. The last letters are the axes along which A and B are contiguous.
FERRULE_KERNEL(matmul_f32_128x128_kk, MatmulParameters, 512) { multiply_large<Along::k, Along::k>(p); }
FERRULE_KERNEL(matmul_f32_128x128_kn, MatmulParameters, 512) { multiply_large<Along::k, Along::outer>(p); }
FERRULE_KERNEL(matmul_f32_128x128_mk, MatmulParameters, 512) { multiply_large<Along::outer, Along::k>(p); }
FERRULE_KERNEL(matmul_f32_128x128_mn, MatmulParameters, 512) { multiply_large<Along::outer, Along::outer>(p); }
FERRULE_KERNEL(matmul_f32_64x64, MatmulParameters, 256) { multiply<float, float, 64, 64, 16, 4, 4>(p); }
FERRULE_KERNEL(matmul_f32_32x32, MatmulParameters, 256) { multiply<float, float, 32, 32, 32, 2, 2>(p); }
FERRULE_KERNEL(matmul_f32_16x128, MatmulParameters, 128) { multiply<float, float, 16, 128, 32, 8, 2>(p); }
FERRULE_KERNEL(matmul_f32_4x128, MatmulParameters, 128) { multiply<float, float, 4, 128, 32, 4, 1>(p); }

// Only for GPUs without m16n8k16; others use matmul_tensor.h.
FERRULE_KERNEL(matmul_f16_64x64, MatmulParameters, 256) { multiply_halves<Half, 64, 64, 16, 4, 4>(p); }
FERRULE_KERNEL(matmul_f16_4x128, MatmulParameters, 128) { multiply_halves<Half, 4, 128, 32, 4, 1>(p); }
FERRULE_KERNEL(matmul_bf16_64x64, MatmulParameters, 256) { multiply_halves<BFloat16, 64, 64, 16, 4, 4>(p); }
FERRULE_KERNEL(matmul_bf16_4x128, MatmulParameters, 128) { multiply_halves<BFloat16, 4, 128, 32, 4, 1>(p); }

FERRULE_KERNEL(matmul_f64_64x64, MatmulParameters, 256) { multiply<double, double, 64, 64, 16, 4, 4>(p); }
FERRULE_KERNEL(matmul_f64_4x128, MatmulParameters, 128) { multiply<double, double, 4, 128, 16, 4, 1>(p); }

// Integers, modulo their width.
FERRULE_KERNEL(matmul_u8_64x64, MatmulParameters, 256) { multiply<uint8_t, uint32_t, 64, 64, 16, 4, 4>(p); }
FERRULE_KERNEL(matmul_u8_4x128, MatmulParameters, 128) { multiply<uint8_t, uint32_t, 4, 128, 32, 4, 1>(p); }
FERRULE_KERNEL(matmul_u16_64x64, MatmulParameters, 256) { multiply<uint16_t, uint32_t, 64, 64, 16, 4, 4>(p); }
FERRULE_KERNEL(matmul_u16_4x128, MatmulParameters, 128) { multiply<uint16_t, uint32_t, 4, 128, 32, 4, 1>(p); }
FERRULE_KERNEL(matmul_u32_64x64, MatmulParameters, 256) { multiply<uint32_t, uint32_t, 64, 64, 16, 4, 4>(p); }
FERRULE_KERNEL(matmul_u32_4x128, MatmulParameters, 128) { multiply<uint32_t, uint32_t, 4, 128, 32, 4, 1>(p); }
FERRULE_KERNEL(matmul_u64_64x64, MatmulParameters, 256) { multiply<uint64_t, uint64_t, 64, 64, 16, 4, 4>(p); }
FERRULE_KERNEL(matmul_u64_4x128, MatmulParameters, 128) { multiply<uint64_t, uint64_t, 4, 128, 16, 4, 1>(p); }

}  // namespace ferrule::cuda
