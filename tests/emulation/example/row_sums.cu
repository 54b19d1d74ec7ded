#include "row_sums.h"

#include <cuda_runtime.h>

// For nvcc; the emulator has its own.
#if defined(__CUDACC__)
#define FERRULE_KERNEL(name, Parameters, ...) \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const __grid_constant__ Parameters p)
#define FERRULE_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#endif

FERRULE_KERNEL(row_sums, RowSumsParameters, row_sums_threads) {
  FERRULE_SHARED(float, of_warps, [row_sums_threads / 32]);
  const float* const row = p.x + blockIdx.x * p.length;
  float sum = 0;
  for (unsigned long long i = threadIdx.x; i < p.length; i += row_sums_threads) sum += row[i];
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < row_sums_threads / 32; ++warp) sum += of_warps[warp];
  p.sums[blockIdx.x] = sum;
}
