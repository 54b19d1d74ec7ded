// Metal Shading Language Specification, "Threadgroup and SIMD-Group Synchronization Functions".
#pragma once

namespace metal {

enum class mem_flags {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8
};
constexpr ferrule_inline mem_flags operator|(mem_flags x, mem_flags y) {
  return static_cast<mem_flags>(static_cast<int>(x) | static_cast<int>(y));
}

ferrule_inline void threadgroup_barrier(mem_flags, ferrule_place) {
  ferrule_host_barrier("threadgroup_barrier", ferrule_at);
}
ferrule_inline void simdgroup_barrier(mem_flags, ferrule_place) {
  ferrule_host_meet("simdgroup_barrier", ferrule_at, nullptr, 0, nullptr);
}

}  // namespace metal
