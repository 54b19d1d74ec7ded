// CUDA's built-in vector types, with its alignments. CUDA C++ Programming Guide, "Built-in Vector Types".
#pragma once

#include "emulation/block.h"

#define FERRULE_VECTOR_2(name, T, alignment) \
  struct alignas(alignment) name {           \
    T x, y;                                  \
  };                                         \
  constexpr name make_##name(T x, T y) { return {x, y}; }
#define FERRULE_VECTOR_3(name, T) \
  struct name {                   \
    T x, y, z;                    \
  };                              \
  constexpr name make_##name(T x, T y, T z) { return {x, y, z}; }
#define FERRULE_VECTOR_4(name, T, alignment) \
  struct alignas(alignment) name {           \
    T x, y, z, w;                            \
  };                                         \
  constexpr name make_##name(T x, T y, T z, T w) { return {x, y, z, w}; }

FERRULE_VECTOR_2(char2, signed char, 2)
FERRULE_VECTOR_2(uchar2, unsigned char, 2)
FERRULE_VECTOR_2(short2, short, 4)
FERRULE_VECTOR_2(ushort2, unsigned short, 4)
FERRULE_VECTOR_2(int2, int, 8)
FERRULE_VECTOR_2(uint2, unsigned, 8)
FERRULE_VECTOR_2(longlong2, long long, 16)
FERRULE_VECTOR_2(ulonglong2, unsigned long long, 16)
FERRULE_VECTOR_2(float2, float, 8)
FERRULE_VECTOR_2(double2, double, 16)
FERRULE_VECTOR_3(int3, int)
FERRULE_VECTOR_3(float3, float)
FERRULE_VECTOR_4(char4, signed char, 4)
FERRULE_VECTOR_4(uchar4, unsigned char, 4)
FERRULE_VECTOR_4(short4, short, 8)
FERRULE_VECTOR_4(ushort4, unsigned short, 8)
FERRULE_VECTOR_4(int4, int, 16)
FERRULE_VECTOR_4(uint4, unsigned, 16)
FERRULE_VECTOR_4(float4, float, 16)

#undef FERRULE_VECTOR_2
#undef FERRULE_VECTOR_3
#undef FERRULE_VECTOR_4

using uint3 = emulation::Index;  // the type of threadIdx and blockIdx
constexpr uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
