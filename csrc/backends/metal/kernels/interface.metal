// Definitions that the host and the kernels share. Included by every kernel text.
#pragma once
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

#define MAX_RANK 8
#define SIMD_WIDTH 32  // threads of a simdgroup of Apple's GPUs

// Threadgroup memory of a kernel: FERRULE_THREADGROUP(float, tile, [8][9]). The emulator defines it otherwise.
#ifndef FERRULE_THREADGROUP
#define FERRULE_THREADGROUP(type, name, ...) threadgroup type name __VA_ARGS__
#endif

// The first thread that finds bad data writes it here; the host reads it when the work is done.
struct Fault {
  atomic_uint kind;         // 0 for none
  uint what;                // the value that the node writes; for a power: the dtype
  long found, limit, axis;  // for an index or a start; else the first two
};
constant uint fault_index = 1;   // out of bounds
constant uint fault_power = 2;   // an integer to a negative power
constant uint fault_length = 3;  // more keys than there are
constant uint fault_chosen = 4;  // a mask chooses more or fewer slices than there are values
constant uint fault_start = 5;   // of a slice, beyond the limit

inline void report_fault(device Fault* fault, uint kind, uint what, long found, long limit, long axis) {
  uint seen = 0;
  // The exchange is weak, so it may fail where it finds 0.
  while (!atomic_compare_exchange_weak_explicit(&fault->kind, &seen, kind, memory_order_relaxed, memory_order_relaxed))
    if (seen != 0) return;
  fault->what = what;
  fault->found = found;
  fault->limit = limit;
  fault->axis = axis;
}

// The position of a thread in its grid. The groups may extend in x, y and z; x varies fastest.
#define GRID_PARAMETERS                                                                 \
  uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]], \
      uint own [[thread_index_in_threadgroup]], uint3 group_shape [[threads_per_threadgroup]]
inline ulong group_number(uint3 group, uint3 groups) {
  return (ulong(group.z) * groups.y + group.y) * groups.x + group.x;
}
#define THREAD_NUMBER (group_number(group, groups) * group_shape.x + own)

// Shape and strides as in the host's Layout: sizes from the last axis backwards, strides in elements.
struct Layout {
  uint rank;
  long shape[MAX_RANK];
  long strides[MAX_RANK];
};

// The offset of the index-th element in C order, in elements from (0, ..., 0).
inline long offset_in(constant Layout& layout, ulong index) {
  long offset = 0;
  for (uint axis = 0; axis < layout.rank; ++axis) {
    const ulong size = ulong(layout.shape[axis]), next = index / size;
    offset += long(index - next * size) * layout.strides[axis];
    index = next;
  }
  return offset;
}
