// The common part of all kernels: their declaration, numbers of 16 bits, offsets, faults. A kernel is compiled by nvcc
// for GPUs, and by the host's compiler for the emulator (docs/develop/emulators.md).
//
//   FERRULE_KERNEL(fill_f32, FillParameters, 256) { ... p.count ... }   // in fill.cu; the host calls it "fill.f32"
// A kernel has one parameter, the struct `p`, and at most so many threads in a block. A fourth number says how many
// blocks a multiprocessor has to hold, where ptxas would spill registers to make room for more. Its name begins with
// that of its file. Kernels add in the order that the source says (-fmad=false): they call fma to fuse.
#pragma once

#ifndef __CUDACC_RTC__  // NVRTC knows it
#include <cuda_runtime.h>
#endif

#include "parameters/common.h"

#ifndef FERRULE_KERNEL  // the emulator has its own
#define FERRULE_KERNEL(name, Parameters, ...) \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const __grid_constant__ Parameters p)
// Declares a __shared__ array: FERRULE_SHARED(float, tile, [32][33]). FERRULE_DYNAMIC_SHARED declares the array whose
// size the launch decides.
#define FERRULE_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define FERRULE_DYNAMIC_SHARED(type, name)          \
  extern __shared__ uint4 ferrule_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(ferrule_dynamic_shared)
#endif

namespace ferrule::cuda {

template <class To, class From>
__device__ __forceinline__ To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
__device__ __forceinline__ T* pointer(Address address) {
  return reinterpret_cast<T*>(address);
}

// ---- indices
// threadIdx.x and blockIdx.x, read again each time, so that they take no registers meanwhile.
__device__ __forceinline__ uint32_t thread_in_block() {
#ifdef __CUDA_ARCH__
  uint32_t thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#else
  return threadIdx.x;
#endif
}
__device__ __forceinline__ uint32_t block_in_grid() {
#ifdef __CUDA_ARCH__
  uint32_t block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
#else
  return blockIdx.x;
#endif
}

// ---- numbers of 16 bits; they are computed in float
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

__device__ __forceinline__ float to_float(Half x) {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
#else
  return emulation::float_of_float16(x.bits);
#endif
}
__device__ __forceinline__ float to_float(BFloat16 x) { return bits_as<float>(static_cast<uint32_t>(x.bits) << 16); }
__device__ __forceinline__ float to_float(float x) { return x; }

// Rounded to the nearest, ties to even.
template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ Half from_float<Half>(float x) {
#ifdef __CUDA_ARCH__
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return {bits};
#else
  return {emulation::float16_bits(x)};
#endif
}
template <>
__device__ __forceinline__ BFloat16 from_float<BFloat16>(float x) {
  const uint32_t bits = bits_as<uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>(bits >> 16 | 0x40u)};  // NaN
  return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

// ---- threads
__device__ __forceinline__ uint64_t thread_number() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ uint64_t thread_count() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

// ---- offsets
// Offset in elements of element number `index`.
__device__ __forceinline__ int64_t offset_of(const Layout& layout, uint64_t index) {
  if (layout.rank == 0) return 0;
  const uint32_t last = layout.rank - 1;
  if (layout.is_near != 0) {
    auto rest = static_cast<uint32_t>(index);
    int32_t offset = 0;
    for (uint32_t axis = 0; axis < last; ++axis) {
      const auto size = static_cast<uint32_t>(layout.shape[axis]);
      const uint32_t quotient = rest / size;
      offset += static_cast<int32_t>(rest - quotient * size) * static_cast<int32_t>(layout.strides[axis]);
      rest = quotient;
    }
    return offset + static_cast<int32_t>(rest) * static_cast<int32_t>(layout.strides[last]);
  }
  int64_t offset = 0;
  for (uint32_t axis = 0; axis < last; ++axis) {
    const auto size = static_cast<uint64_t>(layout.shape[axis]);
    const uint64_t quotient = index / size;
    offset += static_cast<int64_t>(index - quotient * size) * layout.strides[axis];
    index = quotient;
  }
  return offset + static_cast<int64_t>(index) * layout.strides[last];
}

// ---- faults
// Records a fault; only the first report of a queue is kept.
__device__ inline void report(Address record, uint32_t kind, uint32_t what, int64_t found, int64_t limit,
                              int64_t axis) {
  Fault* const fault = pointer<Fault>(record);
  if (atomicCAS(&fault->kind, static_cast<uint32_t>(Fault::none), kind) != Fault::none) return;
  fault->what = what;
  fault->found = found;
  fault->limit = limit;
  fault->axis = axis;
}

}  // namespace ferrule::cuda
