// Metal Shading Language Specification, "Scalar Data Types" and "Vector Data Types".
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef __bf16 bfloat;

#define FERRULE_VECTORS(T)                            \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4)));
FERRULE_VECTORS(char)
FERRULE_VECTORS(uchar)
FERRULE_VECTORS(short)
FERRULE_VECTORS(ushort)
FERRULE_VECTORS(int)
FERRULE_VECTORS(uint)
FERRULE_VECTORS(long)
FERRULE_VECTORS(ulong)
FERRULE_VECTORS(half)
FERRULE_VECTORS(float)
FERRULE_VECTORS(bfloat)
#undef FERRULE_VECTORS
// Vectors of bool have elements of signed char, like no other vector.
typedef int8_t bool2 __attribute__((ext_vector_type(2)));
typedef int8_t bool3 __attribute__((ext_vector_type(3)));
typedef int8_t bool4 __attribute__((ext_vector_type(4)));

// The emulator writes it for static_cast to a value, as clang does not convert between half and bfloat.
template <class T, class From>
constexpr ferrule_inline T ferrule_cast(From from) {
  if constexpr ((__is_same(From, half) && __is_same(T, bfloat)) || (__is_same(From, bfloat) && __is_same(T, half)))
    return static_cast<T>(static_cast<float>(from));
  else
    return static_cast<T>(from);
}

namespace metal {
template <class T, int N>
using vec = T __attribute__((ext_vector_type(N)));
#define FERRULE_NAMES(T) \
  using ::T;             \
  using ::T##2;          \
  using ::T##3;          \
  using ::T##4;
FERRULE_NAMES(uchar)
FERRULE_NAMES(ushort)
FERRULE_NAMES(uint)
FERRULE_NAMES(ulong)
FERRULE_NAMES(bfloat)
#undef FERRULE_NAMES
#define FERRULE_NAMES(T) \
  using ::T##2;          \
  using ::T##3;          \
  using ::T##4;
FERRULE_NAMES(char)
FERRULE_NAMES(short)
FERRULE_NAMES(int)
FERRULE_NAMES(long)
FERRULE_NAMES(half)
FERRULE_NAMES(float)
#undef FERRULE_NAMES
using ::bool2;
using ::bool3;
using ::bool4;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
}  // namespace metal
