// Prints the sums of three blocks, or the fault of the kernel.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

#include "block_sums.h"
#include "emulation/code_image.h"

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::cout << cudaGetErrorName(error) << ": " << emulation::fault_of_device() << "\n";
  std::exit(0);
}

}  // namespace

int main(int count, char**) {
  constexpr unsigned blocks = 3, elements = 64 * blocks;
  std::vector<int> x(elements), sums(blocks);
  std::iota(x.begin(), x.end(), 0);
  cudaLibrary_t library;
  check(cudaLibraryLoadData(&library, &emulation::own_code_image, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel;
  check(cudaLibraryGetKernel(&kernel, library, "block_sums"));
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  void *from, *to;
  check(cudaMalloc(&from, elements * sizeof(int)));
  check(cudaMalloc(&to, blocks * sizeof(int)));
  check(cudaMemcpyAsync(from, x.data(), elements * sizeof(int), cudaMemcpyDefault, stream));
  BlockSumsParameters p = {static_cast<const int*>(from), static_cast<int*>(to), count > 1};
  void* parameters[] = {&p};
  check(cudaLaunchKernel(static_cast<const void*>(kernel), dim3(blocks), dim3(64), parameters, 0, stream));
  check(cudaMemcpyAsync(sums.data(), to, blocks * sizeof(int), cudaMemcpyDefault, stream));
  check(cudaStreamSynchronize(stream));
  for (const int sum : sums) std::cout << sum << "\n";
}
