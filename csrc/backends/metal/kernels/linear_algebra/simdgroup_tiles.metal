// Tiles of matrices in threadgroup memory, and strips: rows of 8 x 8 matrices on their way between a simdgroup and
// threadgroup memory, because where each lane finds elements of a matrix is the GPU's affair.
//
// Defined in front: Stored and tile_element, the elements in memory and in a tile.
#pragma once
#include "interface.metal"

#define SIDE 8
#define PADDING 4  // floats between rows of a tile, so that rows do not begin in the same bank

inline simdgroup_float8x8 zeros() { return make_filled_simdgroup_matrix<float, SIDE, SIDE>(0.0f); }

// Element (i, j) of the tile is at `at` + i * outer + j * inner; those from outer_left and inner_left on are zero.
template <uint Outer, uint Inner, uint Threads>
inline void fill_tile(threadgroup float* tile, device const Stored* from, long at, long outer, long inner,
                      uint outer_left, uint inner_left, uint own) {
  constexpr uint together = Threads / Inner;
  static_assert(Outer % together == 0, "each thread has as many elements");
  const uint first = own / Inner, j = own % Inner;
  at += long(first) * outer + long(j) * inner;
#pragma unroll
  for (uint step = 0; step < Outer / together; ++step) {
    const uint i = first + step * together;
    tile[i * (Inner + PADDING) + j] = i < outer_left && j < inner_left ? tile_element(from, at) : 0.0f;
    at += long(together) * outer;
  }
}

// Writes the matrices of a row into a strip, and reads them.
template <uint Count>
inline void store_strip(threadgroup float* strip, thread const simdgroup_float8x8 (&from)[Count]) {
#pragma unroll
  for (uint j = 0; j < Count; ++j) simdgroup_store(from[j], strip + j * SIDE, Count * SIDE);
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
template <uint Count>
inline void load_strip(thread simdgroup_float8x8 (&to)[Count], threadgroup const float* strip) {
  simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint j = 0; j < Count; ++j) simdgroup_load(to[j], strip + j * SIDE, Count * SIDE);
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
