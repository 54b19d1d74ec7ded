// Matrix instructions of a warp: mma.sync and ldmatrix. PTX on GPUs, and
// tests/emulation/emulation/matrix_instructions.h in the emulator. The fragments are those of PTX ISA 8.5, "Warp-Level
// Matrix Instructions". All 32 lanes must call.
#pragma once

#include "kernels/device.h"

namespace ferrule::cuda {

// Whether the GPU that this code is compiled for has m16n8k16, m16n8k32 and tf32 (compute capability 8.0).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool has_mma_m16n8k16 = false;
#else
inline constexpr bool has_mma_m16n8k16 = true;
#endif

// Two items in a register, `low` in the lower half, rounded to the nearest.
template <class Item>
__device__ __forceinline__ uint32_t packed(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint32_t pair;
  if constexpr (__is_same(Item, Half))
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return from_float<Item>(low).bits | static_cast<uint32_t>(from_float<Item>(high).bits) << 16;
#endif
}

#ifndef __CUDA_ARCH__
namespace emulated {
template <class Element, class Sum>
void mma(Sum (&c)[4], const emulation::Fragments& fragments) {
  emulation::mma_m16n8<Element>(c, fragments, {"mma.sync", std::source_location::current()});
}
}  // namespace emulated
#endif

// c += a b, for A of 16 x 16 and B of 16 x 8 items (Half, BFloat16). Compute capability 8.0.
template <class Item>
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);

template <>
__device__ __forceinline__ void mma_m16n8k16<Half>(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#ifndef __CUDA_ARCH__
  emulated::mma<emulation::Float16>(c, {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}});
#elif __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();
#endif
}

template <>
__device__ __forceinline__ void mma_m16n8k16<BFloat16>(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#ifndef __CUDA_ARCH__
  emulated::mma<emulation::Bfloat16>(c, {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}});
#elif __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();
#endif
}

// The tf32 nearest to a float, in its upper 19 bits; ties go away from zero, and NaN becomes 0x7fffffff.
__device__ __forceinline__ uint32_t tf32_bits(uint32_t bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(bits_as<float>(bits)));
  return rounded;
#else
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : (bits + 0x1000u) & 0xffffe000u;
#endif
}

// c += a b, for A of 16 x 8 and B of 8 x 8 items (tf32). Compute capability 8.0.
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#ifndef __CUDA_ARCH__
  emulated::mma<emulation::Tfloat32>(c, {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}});
#elif __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();
#endif
}

// c += a b modulo 2^32, for A of 16 x 32 and B of 32 x 8 items (int8). Compute capability 8.0.
__device__ __forceinline__ void mma_m16n8k32_s8(int32_t (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#ifndef __CUDA_ARCH__
  emulated::mma<emulation::Int8>(c, {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}});
#elif __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();
#endif
}

// Loads four matrices of 8 x 8 items of 2 bytes from shared memory. Lane 8 i + r passes the address of row r of matrix
// i, a multiple of 16; register i gets the lane's two items of matrix i.
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&to)[4], const void* row) {
#ifndef __CUDA_ARCH__
  const auto registers = emulation::ldmatrix_x4(row, false, {"ldmatrix", std::source_location::current()});
  for (int i = 0; i < 4; ++i) to[i] = registers[i];
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
#endif
}

// The same, with each matrix transposed.
__device__ __forceinline__ void ldmatrix_x4_transposed(uint32_t (&to)[4], const void* row) {
#ifndef __CUDA_ARCH__
  const auto registers = emulation::ldmatrix_x4(row, true, {"ldmatrix.trans", std::source_location::current()});
  for (int i = 0; i < 4; ++i) to[i] = registers[i];
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
#endif
}

}  // namespace ferrule::cuda
