// Kernels for ThreadSanitizer: `none` has no race, each other one has the race that its name says.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

__global__ void without_races(int* out) {
  FERRULE_SHARED(int, shared, [64]);
  for (int round = 0; round < 5; ++round) {
    shared[threadIdx.x] = static_cast<int>(threadIdx.x) + round;
    __syncthreads();
    const int other = shared[63 - threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = __shfl_xor_sync(0xffffffff, other, 1);
  }
  // Lanes of a warp pass values on through memory.
  shared[threadIdx.x] = 1;
  __syncwarp();
  out[blockIdx.x * 64 + threadIdx.x] += shared[threadIdx.x ^ 1];
  atomicAdd(&out[gridDim.x * 64], 1);
}

}  // namespace

// Outside of the namespace, so that reports have short names.
__global__ void race_in_shared(int* out) {
  FERRULE_SHARED(int, shared, [64]);
  shared[threadIdx.x] = 1;  // no barrier
  out[threadIdx.x] = shared[63 - threadIdx.x];
}

__global__ void race_in_global(int* out) { out[0] = static_cast<int>(blockIdx.x); }

__global__ void race_in_warp(int* out) {
  out[threadIdx.x] = 1;  // no __syncwarp
  out[64 + threadIdx.x] = out[threadIdx.x ^ 1];
}

int main(int count, char** arguments) {
  const char* const wanted = count > 1 ? arguments[1] : "none";
  std::vector<int> out(8 * 64 + 1);
  emulation::LaunchShape shape;
  shape.block.x = 64;
  const auto is = [&](const char* name) { return std::strcmp(wanted, name) == 0; };
  if (is("shared")) emulation::launch(wanted, shape, race_in_shared, out.data());
  if (is("warp")) emulation::launch(wanted, shape, race_in_warp, out.data());
  shape.grid.x = 8;
  if (is("global")) emulation::launch(wanted, shape, race_in_global, out.data());
  if (!is("none")) return 0;
  emulation::launch(wanted, shape, without_races, out.data());
  std::printf("%d\n", out.back());
  return out.back() == 8 * 64 ? 0 : 1;
}
