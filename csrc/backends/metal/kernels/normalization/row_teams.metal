// Rows that TEAM threads share, and their sums and maxima, folded by halves. All threads of the threadgroup call these
// functions. Simdgroups exchange values through threadgroup memory at once, and each folds them by itself; then lanes
// exchange values by shuffles. Defined in front: TEAM, a power of two that divides THREADS.
#pragma once
#include "interface.metal"

inline float combined(float a, float b, bool adds) { return adds ? a + b : b > a ? b : a; }

// `shared` has THREADS elements.
inline float of_team(float value, bool adds, threadgroup float* shared, uint own) {
  const uint together = min(uint(TEAM), uint(SIMD_WIDTH)), lane = own % TEAM;
  if (TEAM > together) {
    shared[own] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float values[(TEAM + SIMD_WIDTH - 1) / SIMD_WIDTH];
    for (uint i = 0; i < TEAM / together; ++i) values[i] = shared[own - lane + i * together + lane % together];
    for (uint width = TEAM / together / 2; width > 0; width /= 2)
      for (uint i = 0; i < width; ++i) values[i] = combined(values[i], values[i + width], adds);
    value = values[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint width = together / 2; width > 0; width /= 2)
    value = combined(value, simd_shuffle_xor(value, ushort(width)), adds);
  // Lanes may have kept different ones of two equal zeros.
  return simd_shuffle(value, ushort(own % SIMD_WIDTH - own % together));
}

// Adds in pieces of sixteen, so that long rows lose less precision.
struct Sum {
  float total = 0.0f, piece = 0.0f;
  uint count = 0;
  void add(float value) thread {
    piece += value;
    if (++count % 16 == 0) {
      total += piece;
      piece = 0.0f;
    }
  }
  float result() thread { return total + piece; }
};
