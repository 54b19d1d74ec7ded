// The argument with which the emulator calls a kernel: KernelCallData of library/kernel_call.h.
#pragma once

struct ferrule_position {
  uint x, y, z;
};

struct ferrule_call {
  __global const ulong* buffers;
  ferrule_position thread_position_in_grid, threadgroup_position_in_grid, thread_position_in_threadgroup,
      threads_per_threadgroup, threadgroups_per_grid, threads_per_grid;
  uint thread_index_in_threadgroup, thread_index_in_simdgroup, simdgroup_index_in_threadgroup,
      simdgroups_per_threadgroup, threads_per_simdgroup;
};

template <class T>
ferrule_inline T ferrule_index(ferrule_position at) {
  typedef typename metal::ferrule_shape<T>::element Element;
  if constexpr (metal::ferrule_shape<T>::count == 1)
    return static_cast<T>(at.x);
  else if constexpr (metal::ferrule_shape<T>::count == 2)
    return T{static_cast<Element>(at.x), static_cast<Element>(at.y)};
  else
    return T{static_cast<Element>(at.x), static_cast<Element>(at.y), static_cast<Element>(at.z)};
}
template <class T>
ferrule_inline T ferrule_index(uint index) {
  return static_cast<T>(index);
}
