// The types that elementwise functions compute in: their sets in elementwise_functions.inc, and what templates ask of
// them.
#pragma once

#include "kernels/device.h"
#include "parameters/elementwise.h"

// A function that is too long to be repeated for each item of a thread.
#ifndef FERRULE_OUT_OF_LINE
#ifdef __CUDACC__
#define FERRULE_OUT_OF_LINE inline __noinline__
#else
#define FERRULE_OUT_OF_LINE inline
#endif
#endif

// Pragmas before a loop: FERRULE_UNROLL keeps arrays that the loop indexes in registers, FERRULE_ROLLED keeps the code
// short.
#ifndef FERRULE_UNROLL
#ifdef __CUDACC__
#define FERRULE_UNROLL _Pragma("unroll")
#define FERRULE_ROLLED _Pragma("unroll 1")
#else
#define FERRULE_UNROLL
#define FERRULE_ROLLED
#endif
#endif

namespace ferrule::cuda::elementwise {

template <Type type>
inline constexpr uint32_t set_of = 1u << static_cast<uint32_t>(type);
inline constexpr uint32_t booleans = set_of<Type::u32>, float32 = set_of<Type::f32>;
inline constexpr uint32_t integers = set_of<Type::i32> | set_of<Type::u32> | set_of<Type::i64> | set_of<Type::u64>;
inline constexpr uint32_t floats = set_of<Type::f32> | set_of<Type::f64>, numbers = integers | floats;

template <class T>
inline constexpr bool is_floating = static_cast<T>(0.5) != T(0);
template <class T>
inline constexpr bool is_signed_integer = !is_floating<T> && static_cast<T>(-1) < T(0);
template <class T>
inline constexpr bool is_single = is_floating<T> && sizeof(T) == 4;

template <int bytes>
struct BitsOf {
  using Type = uint32_t;
};
template <>
struct BitsOf<8> {
  using Type = uint64_t;
};
// The unsigned integer of the same size. Signed numbers wrap in it.
template <class T>
using Bits = typename BitsOf<sizeof(T)>::Type;

// The place where a function reports an invalid operand. A function that needs it has it as its last parameter.
struct FaultContext {
  Address record;
  uint32_t detail;  // of the instruction
};

}  // namespace ferrule::cuda::elementwise
