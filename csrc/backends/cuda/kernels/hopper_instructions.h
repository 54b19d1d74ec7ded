// Instructions of compute capability 9.0 that later ones do not have: wgmma, which multiplies matrices in shared memory
// by a warp group of 128 threads, and setmaxnreg; and what feeds it: mbarriers and cp.async.bulk.tensor (TMA). PTX on
// GPUs; tests/emulation/emulation/{tile_copies,warpgroup_matrix}.h in the emulator. PTX ISA 8.5, "mbarrier", "Tensors",
// "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <type_traits>

#include "kernels/device.h"

namespace ferrule::cuda {

// Whether the GPU that this code is compiled for has them: only the code for sm_90a.
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ == 900 && defined(__CUDA_ARCH_FEAT_SM90_ALL))
#define FERRULE_HAS_WGMMA 1
#else
#define FERRULE_HAS_WGMMA 0
#endif
inline constexpr bool has_wgmma = FERRULE_HAS_WGMMA != 0;

#if FERRULE_HAS_WGMMA

#ifdef __CUDA_ARCH__
__device__ __forceinline__ uint32_t shared_address(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}
#endif

// ---- mbarriers: 8 bytes of shared memory. A phase ends with its `count`-th arrival and its last expected byte.
__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t count) {
#ifdef __CUDA_ARCH__
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
#else
  emulation::mbarrier_init(barrier, count);
#endif
}

// Makes barriers and data that this thread has written visible to TMA and wgmma.
__device__ __forceinline__ void fence_proxy_async() {
#ifdef __CUDA_ARCH__
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  emulation::fence_proxy_async();
#endif
}

__device__ __forceinline__ void mbarrier_arrive(uint64_t* barrier) {
#ifdef __CUDA_ARCH__
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
#else
  emulation::mbarrier_arrive(barrier);
#endif
}

// Arrives, and says how many bytes of copies belong to the phase.
__device__ __forceinline__ void mbarrier_arrive_expect(uint64_t* barrier, uint32_t bytes) {
#ifdef __CUDA_ARCH__
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
#else
  emulation::mbarrier_arrive_expect_tx(barrier, bytes);
#endif
}

// Waits for the end of the phase of this parity: 0 for the first one. Parity 1 does not wait at a new barrier.
__device__ __forceinline__ void mbarrier_wait(uint64_t* barrier, uint32_t parity) {
#ifdef __CUDA_ARCH__
  uint32_t is_over = 0;
  do {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(is_over)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  } while (is_over == 0);
#else
  emulation::mbarrier_wait(barrier, parity);
#endif
}

// The next slot of a ring of tiles. The parity of a slot's phase changes with each turn of the ring.
template <uint32_t STAGES>
struct RingPlace {
  uint32_t slot = 0, parity = 0;
  __device__ __forceinline__ void advance() {
    if (++slot != STAGES) return;
    slot = 0;
    parity ^= 1;
  }
};

// ---- TMA
// Starts to read the map of a tensor, which is in the kernel's parameters, for the first copy.
__device__ __forceinline__ void prefetch_map(const void* map) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#else
  static_cast<void>(map);
#endif
}

// Starts the copy of a box of a tensor of three axes, the innermost coordinate first, with zeros outside of the tensor.
// `map` is in the kernel's parameters. The barrier's phase gets its bytes.
__device__ __forceinline__ void copy_box(void* shared, const void* map, uint32_t x, uint32_t y, uint32_t z,
                                         uint64_t* barrier) {
  const int32_t at[3] = {static_cast<int32_t>(x), static_cast<int32_t>(y), static_cast<int32_t>(z)};
#ifdef __CUDA_ARCH__
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(shared_address(shared)),
      "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(shared_address(barrier))
      : "memory");
#else
  emulation::copy_tile(shared, map, at, 3, barrier);
#endif
}

// Starts the copy of a box of a tensor of four axes, like the overload for three axes.
__device__ __forceinline__ void copy_box(void* shared, const void* map, uint32_t x, uint32_t y, uint32_t z, uint32_t w,
                                         uint64_t* barrier) {
  const int32_t at[4] = {static_cast<int32_t>(x), static_cast<int32_t>(y), static_cast<int32_t>(z),
                         static_cast<int32_t>(w)};
#ifdef __CUDA_ARCH__
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
      "[%6];" ::"r"(shared_address(shared)),
      "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(shared_address(barrier))
      : "memory");
#else
  emulation::copy_tile(shared, map, at, 4, barrier);
#endif
}

// ---- registers of a warp group; the sum of all is at most that of the launch
template <int COUNT>
__device__ __forceinline__ void lower_registers() {
#ifdef __CUDA_ARCH__
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
template <int COUNT>
__device__ __forceinline__ void raise_registers() {
#ifdef __CUDA_ARCH__
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}

// ---- wgmma
// Describes a matrix in shared memory that TMA has written with the swizzle of 128 bytes: rows of 128 bytes, of which
// eight, 1024 aligned bytes, are a group. From one group to the next it is `stride` bytes along the axis of the rows,
// and `leading` bytes along that of the columns.
__device__ __forceinline__ uint64_t matrix_descriptor(const void* shared, uint32_t leading, uint32_t stride) {
#ifdef __CUDA_ARCH__
  return static_cast<uint64_t>((shared_address(shared) & 0x3ffff) >> 4) | static_cast<uint64_t>(leading >> 4) << 16 |
         static_cast<uint64_t>(stride >> 4) << 32 | uint64_t{1} << 62;
#else
  return emulation::matrix_descriptor(shared, leading, stride, 128);
#endif
}

// Keeps what the compiler does with the sums on one side of this line: wgmma changes them while it runs.
template <int COUNT>
__device__ __forceinline__ void pin(float (&sums)[COUNT]) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(sums[i])::"memory");
#else
  static_cast<void>(sums);
#endif
}

// Call before the first wgmma that adds to registers which other instructions have used.
template <int COUNT>
__device__ __forceinline__ void wgmma_begin(float (&sums)[COUNT]) {
  pin(sums);
#ifdef __CUDA_ARCH__
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  emulation::wgmma_fence();
#endif
}

// Ends a group of wgmma.
__device__ __forceinline__ void wgmma_commit() {
#ifdef __CUDA_ARCH__
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  emulation::wgmma_commit();
#endif
}

// Waits until at most the newest `pending` groups are left.
template <int pending, int COUNT>
__device__ __forceinline__ void wgmma_wait(float (&sums)[COUNT]) {
#ifdef __CUDA_ARCH__
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#else
  emulation::wgmma_wait(pending);
#endif
  pin(sums);
}

#ifdef __CUDA_ARCH__
#define FERRULE_TEN(tens) \
  "%" tens "0,%" tens "1,%" tens "2,%" tens "3,%" tens "4,%" tens "5,%" tens "6,%" tens "7,%" tens "8,%" tens "9,"
#define FERRULE_SUMS_4(i) "+f"(sums[i]), "+f"(sums[(i) + 1]), "+f"(sums[(i) + 2]), "+f"(sums[(i) + 3])
#define FERRULE_SUMS_16(i) FERRULE_SUMS_4(i), FERRULE_SUMS_4((i) + 4), FERRULE_SUMS_4((i) + 8), FERRULE_SUMS_4((i) + 12)
#define FERRULE_SUMS_64(i) \
  FERRULE_SUMS_16(i), FERRULE_SUMS_16((i) + 16), FERRULE_SUMS_16((i) + 32), FERRULE_SUMS_16((i) + 48)
#define FERRULE_REGISTERS_64                                                              \
  "{" FERRULE_TEN("") FERRULE_TEN("1") FERRULE_TEN("2") FERRULE_TEN("3") FERRULE_TEN("4") \
      FERRULE_TEN("5") "%60,%61,%62,%63}, %64, %65, 1, 1, 1, %66, %67;\n"
#define FERRULE_REGISTERS_128                                                                              \
  "{" FERRULE_TEN("") FERRULE_TEN("1") FERRULE_TEN("2") FERRULE_TEN("3") FERRULE_TEN("4") FERRULE_TEN("5") \
      FERRULE_TEN("6") FERRULE_TEN("7") FERRULE_TEN("8") FERRULE_TEN("9") FERRULE_TEN("10")                \
          FERRULE_TEN("11") "%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, 1, 1, 1, %130, %131;\n"
#define FERRULE_DESCRIPTORS "l"(a), "l"(b), "n"(A_ALONG_K ? 0 : 1), "n"(B_ALONG_K ? 0 : 1)
#endif

// sums += A B, for A of 64 x 16 and B of 16 x N items (Half, BFloat16), N = 2 COUNT. Sum 4 j + 2 h + i of a thread is
// of row 16 (warp % 4) + lane / 4 + 8 h and column 8 j + 2 (lane % 4) + i. ALONG_K: neighbours in memory are neighbours
// along K.
template <class Item, bool A_ALONG_K, bool B_ALONG_K, int COUNT>
__device__ __forceinline__ void wgmma(float (&sums)[COUNT], uint64_t a, uint64_t b) {
  static_assert(COUNT == 64 || COUNT == 128);
  constexpr bool is_bfloat16 = std::is_same_v<Item, BFloat16>;
#ifndef __CUDA_ARCH__
  emulation::wgmma(sums, {COUNT * 2, is_bfloat16, a, b, A_ALONG_K, B_ALONG_K}, true);
#else
  if constexpr (COUNT == 64 && is_bfloat16)
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " FERRULE_REGISTERS_64
                 : FERRULE_SUMS_64(0)
                 : FERRULE_DESCRIPTORS);
  else if constexpr (COUNT == 64)
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " FERRULE_REGISTERS_64
                 : FERRULE_SUMS_64(0)
                 : FERRULE_DESCRIPTORS);
  else if constexpr (is_bfloat16)
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " FERRULE_REGISTERS_128
                 : FERRULE_SUMS_64(0), FERRULE_SUMS_64(64)
                 : FERRULE_DESCRIPTORS);
  else
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 " FERRULE_REGISTERS_128
                 : FERRULE_SUMS_64(0), FERRULE_SUMS_64(64)
                 : FERRULE_DESCRIPTORS);
#endif
}

// ---- wgmma that sets sums, or reads A from registers
// Call before the first wgmma that reads A from registers, of `count` fragments, and sets its sums.
template <int COUNT>
__device__ __forceinline__ void wgmma_begin(uint32_t (&fragments)[COUNT][4]) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (int i = 0; i < COUNT; ++i)
#pragma unroll
    for (int k = 0; k < 4; ++k) asm volatile("" : "+r"(fragments[i][k])::"memory");
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  static_cast<void>(fragments);
  emulation::wgmma_fence();
#endif
}

// Call before the first wgmma that sets its sums, with both factors in shared memory.
__device__ __forceinline__ void wgmma_begin() {
#ifdef __CUDA_ARCH__
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  emulation::wgmma_fence();
#endif
}

#ifdef __CUDA_ARCH__
#define FERRULE_SET_4(i) "=f"(sums[i]), "=f"(sums[(i) + 1]), "=f"(sums[(i) + 2]), "=f"(sums[(i) + 3])
#define FERRULE_SET_16(i) FERRULE_SET_4(i), FERRULE_SET_4((i) + 4), FERRULE_SET_4((i) + 8), FERRULE_SET_4((i) + 12)
#define FERRULE_SET_32(i) FERRULE_SET_16(i), FERRULE_SET_16((i) + 16)
#define FERRULE_SET_64(i) FERRULE_SET_32(i), FERRULE_SET_32((i) + 32)
#define FERRULE_SUMS_32(i) FERRULE_SUMS_16(i), FERRULE_SUMS_16((i) + 16)
#define FERRULE_NAMES_32 "{" FERRULE_TEN("") FERRULE_TEN("1") FERRULE_TEN("2") "%30,%31}, "
#define FERRULE_NAMES_64                                                                  \
  "{" FERRULE_TEN("") FERRULE_TEN("1") FERRULE_TEN("2") FERRULE_TEN("3") FERRULE_TEN("4") \
      FERRULE_TEN("5") "%60,%61,%62,%63}, "
#define FERRULE_FRAGMENT "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(B_ALONG_K ? 0 : 1)
#define FERRULE_FRAGMENT_32 FERRULE_NAMES_32 "{%32,%33,%34,%35}, %36, "
#define FERRULE_FRAGMENT_64 FERRULE_NAMES_64 "{%64,%65,%66,%67}, %68, "
// The instruction for a number of sums and a dtype, which adds to the sums or sets them.
#define FERRULE_WGMMA_OF_FRAGMENT(n, type, count, after)                                                     \
  if constexpr (ADDS)                                                                                        \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " " FERRULE_FRAGMENT_##count \
                 "1, 1, 1, " after ";\n"                                                                     \
                 : FERRULE_SUMS_##count(0)                                                                   \
                 : FERRULE_FRAGMENT);                                                                        \
  else                                                                                                       \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " " FERRULE_FRAGMENT_##count \
                 "0, 1, 1, " after ";\n"                                                                     \
                 : FERRULE_SET_##count(0)                                                                    \
                 : FERRULE_FRAGMENT);
#endif

// sums = A B, for A of 64 x 16 and B of 16 x 128 items.
template <class Item, bool A_ALONG_K, bool B_ALONG_K>
__device__ __forceinline__ void wgmma_set(float (&sums)[64], uint64_t a, uint64_t b) {
  constexpr bool is_bfloat16 = std::is_same_v<Item, BFloat16>;
#ifndef __CUDA_ARCH__
  emulation::wgmma(sums, {128, is_bfloat16, a, b, A_ALONG_K, B_ALONG_K}, false);
#else
  if constexpr (is_bfloat16)
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " FERRULE_NAMES_64
                 "%64, %65, 0, 1, 1, %66, %67;\n"
                 : FERRULE_SET_64(0)
                 : FERRULE_DESCRIPTORS);
  else
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " FERRULE_NAMES_64
                 "%64, %65, 0, 1, 1, %66, %67;\n"
                 : FERRULE_SET_64(0)
                 : FERRULE_DESCRIPTORS);
#endif
}

// sums = A B with A in registers, N = 2 COUNT; ADDS: sums += A B. Each warp has 16 rows of A, in the registers of
// mma_m16n8k16: register 2 c + h of a thread has row lane / 4 + 8 h, and columns 8 c + 2 (lane % 4) and the next one.
// The registers must not change before the wait.
template <class Item, bool ADDS, bool B_ALONG_K, int COUNT>
__device__ __forceinline__ void wgmma_of_fragment(float (&sums)[COUNT], const uint32_t (&a)[4], uint64_t b) {
  static_assert(COUNT == 32 || COUNT == 64);
  constexpr bool is_bfloat16 = std::is_same_v<Item, BFloat16>;
#ifndef __CUDA_ARCH__
  emulation::wgmma(sums, {COUNT * 2, is_bfloat16, emulation::in_registers, b, true, B_ALONG_K}, ADDS, a);
#else
  if constexpr (COUNT == 32 && is_bfloat16) {
    FERRULE_WGMMA_OF_FRAGMENT("64", "bf16", 32, "%37")
  } else if constexpr (COUNT == 32) {
    FERRULE_WGMMA_OF_FRAGMENT("64", "f16", 32, "%37")
  } else if constexpr (is_bfloat16) {
    FERRULE_WGMMA_OF_FRAGMENT("128", "bf16", 64, "%69")
  } else {
    FERRULE_WGMMA_OF_FRAGMENT("128", "f16", 64, "%69")
  }
#endif
}

#endif  // FERRULE_HAS_WGMMA

}  // namespace ferrule::cuda
