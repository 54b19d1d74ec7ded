// Copies from global to shared memory that do not pass through registers: cp.async (compute capability 8.0). A GPU
// without it copies at once; tests/emulation/emulation/async_copies.h emulates it.
//
//   cp_async_16(tile, x, 16); cp_async_commit();   // one group of copies
//   cp_async_wait<0>(); __syncthreads();           // the block's copies are in shared memory
#pragma once

#include "kernels/device.h"

namespace ferrule::cuda {

// Copies `source_bytes` bytes (0 to 16), and fills the rest of 16 bytes with zeros. Both addresses are multiples of 16.
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, uint32_t source_bytes) {
#ifndef __CUDA_ARCH__
  emulation::cp_async_16(shared, global, source_bytes);
#elif __CUDA_ARCH__ >= 800
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
      "l"(global), "r"(source_bytes)
      : "memory");
#else
  uint4 bytes = make_uint4(0, 0, 0, 0);
  if (source_bytes == 16) {
    bytes = *static_cast<const uint4*>(global);
  } else {
    uint32_t words[4] = {};
#pragma unroll
    for (uint32_t i = 0; i < 16; ++i)
      if (i < source_bytes) words[i / 4] |= static_cast<uint32_t>(static_cast<const uint8_t*>(global)[i]) << i % 4 * 8;
    bytes = make_uint4(words[0], words[1], words[2], words[3]);
  }
  *static_cast<uint4*>(shared) = bytes;
#endif
}

// Ends the group of the copies that this thread began since the last commit.
__device__ __forceinline__ void cp_async_commit() {
#ifndef __CUDA_ARCH__
  emulation::cp_async_commit();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the last `pending` groups of this thread are unfinished.
template <int pending>
__device__ __forceinline__ void cp_async_wait() {
#ifndef __CUDA_ARCH__
  emulation::cp_async_wait<pending>();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

}  // namespace ferrule::cuda
