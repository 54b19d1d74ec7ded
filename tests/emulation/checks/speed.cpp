// Prints what launches cost: the best of five, in milliseconds.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

__global__ void never_waits() {}
__global__ void waits_once() { __syncthreads(); }
__global__ void shuffles(int* out) {
  int sum = static_cast<int>(threadIdx.x);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (sum < 0) *out = sum;
}

template <class Work>
void print_time(const char* what, const Work& work) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  std::printf("%-45s %8.2f\n", what, best);
}

}  // namespace

int main() {
  emulation::LaunchShape shape;
  shape.block.x = 256;
  int out = 0;
  print_time("1000 launches of 1 block, never waits", [&] {
    for (int i = 0; i < 1000; ++i) emulation::launch("never_waits", shape, never_waits);
  });
  shape.grid.x = 1000;
  print_time("1000 blocks, never waits", [&] { emulation::launch("never_waits", shape, never_waits); });
  print_time("1000 blocks, __syncthreads", [&] { emulation::launch("waits_once", shape, waits_once); });
  print_time("1000 blocks, five shuffles", [&] { emulation::launch("shuffles", shape, shuffles, &out); });

  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  print_time("1000 launches on a stream", [&] {
    for (int i = 0; i < 1000; ++i) cudaLaunchKernel(never_waits, 1, 256, nullptr, 0, stream);
    cudaStreamSynchronize(stream);
  });
  print_time("1000 launches on a stream, each waited for", [&] {
    for (int i = 0; i < 1000; ++i) {
      cudaLaunchKernel(never_waits, 1, 256, nullptr, 0, stream);
      cudaStreamSynchronize(stream);
    }
  });
  cudaStreamDestroy(stream);
}
