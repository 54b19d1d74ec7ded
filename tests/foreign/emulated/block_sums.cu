#include <cuda_runtime.h>

#include "block_sums.h"

FERRULE_KERNEL(block_sums, BlockSumsParameters, 64) {
  FERRULE_SHARED(int, partial, [2]);
  int sum = p.x[blockIdx.x * 64 + threadIdx.x];
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  if (!p.forgets || threadIdx.x != 63) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  if (threadIdx.x == 0) p.out[blockIdx.x] = partial[0] + partial[1];
}
