// Language extensions of CUDA C++ for device code, in the emulator: qualifiers, kernels, built-in variables, barriers;
// functions of warps, atomic functions and arithmetic are in headers of their own. Names and rules: CUDA C++
// Programming Guide, "C++ Language Extensions".
#pragma once

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "cuda_runtime_api.h"
#include "emulation/arithmetic.h"
#include "emulation/async_copies.h"
#include "emulation/atomic_functions.h"
#include "emulation/block.h"
#include "emulation/code_image.h"
#include "emulation/launch.h"
#include "emulation/matrix_instructions.h"
#include "emulation/narrow_floats.h"
#include "emulation/tile_copies.h"
#include "emulation/vector_types.h"
#include "emulation/warp_functions.h"
#include "emulation/warpgroup_matrix.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
// Empty, so that __attribute__((__noinline__)) of system headers stays valid. A kernel's file includes <stacktrace> and
// <experimental/simd>, which write [[__gnu__::__noinline__]], before this header.
#define __noinline__

// ---- kernels
#if __has_cpp_attribute(gnu::retain)
#define FERRULE_EMULATION_KEPT gnu::used, gnu::retain
#else
#define FERRULE_EMULATION_KEPT gnu::used
#endif
// A kernel with one parameter, the struct `p`, and blocks of at most `threads` threads. All threads read one copy of
// `p`, as with __grid_constant__. Modules find the kernel by its record (emulation/code_image.h).
#define FERRULE_KERNEL(name, Parameters, threads, ...)                                                          \
  static_assert(std::is_trivially_copyable_v<Parameters> && alignof(Parameters) <= 128 &&                       \
                sizeof(Parameters) <= 32764);                                                                   \
  static_assert((threads) > 0 && (threads) <= 1024);                                                            \
  extern "C" [[gnu::visibility("hidden")]] void name(const Parameters& p);                                      \
  static void name##_call(const void* parameters) { name(*static_cast<const Parameters*>(parameters)); }        \
  static constexpr ::emulation::KernelRecord name##_record = {#name, name##_call, sizeof(Parameters), threads}; \
  [[gnu::section("emulated_kernels"),                                                                           \
    FERRULE_EMULATION_KEPT]] static constinit const ::emulation::KernelRecord* name##_entry = &name##_record;   \
  extern "C" void name([[maybe_unused]] const Parameters& p)

// ---- shared memory
// `__shared__ type name extents` in CUDA: FERRULE_SHARED(float, tile, [32][33]);
#define FERRULE_SHARED(type, name, ...)      \
  using name##_type = type __VA_ARGS__;      \
  static_assert(alignof(name##_type) <= 16); \
  static const char name##_key = 0;          \
  name##_type& name = *static_cast<name##_type*>(::emulation::current_block->shared(&name##_key, sizeof(name##_type)))
// `extern __shared__ type name[]` in CUDA.
#define FERRULE_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::emulation::current_block->dynamic_shared())

// ---- the barrier of the block
inline void __syncthreads(EmulationSource at = EmulationSource::current()) {
  emulation::current_block->wait_at_barrier({"__syncthreads", at});
}
