// Metal Shading Language Specification, "SIMD-Group Functions", as far as kernels use them. All lanes that have not
// ended take part: a call that some of them do not reach is a fault.
#pragma once

namespace metal {

constexpr constant uint ferrule_width = 32;

template <class T>
struct ferrule_lanes {
  T values[ferrule_width];
  uint present;
};

// The values of all lanes.
template <class T>
ferrule_inline ferrule_lanes<T> ferrule_meet(const __constant char* function, T value, unsigned line, unsigned column) {
  ferrule_lanes<T> all;
  all.present = ferrule_host_meet(function, line, column, &value, sizeof(T), all.values);
  return all;
}
template <class T>
ferrule_inline T ferrule_value(const __constant char* function, thread const ferrule_lanes<T>& all, uint lane,
                               unsigned line, unsigned column) {
  if (lane >= ferrule_width || (all.present >> lane & 1) == 0)
    ferrule_host_fail(function, line, column, "reads the value of a lane that does not take part");
  return all.values[lane];
}

#define FERRULE_SHUFFLE(name, parameter, lane_of)                           \
  template <class T>                                                        \
  ferrule_inline T name(T value, ushort parameter, ferrule_place) {         \
    const ferrule_lanes<T> all = ferrule_meet<T>(#name, value, ferrule_at); \
    return ferrule_value(#name, all, lane_of, ferrule_at);                  \
  }
FERRULE_SHUFFLE(simd_shuffle, lane, lane)
FERRULE_SHUFFLE(simd_shuffle_xor, mask, ferrule_host_lane() ^ mask)
#undef FERRULE_SHUFFLE

ferrule_inline bool simd_any(bool vote, ferrule_place) {
  const ferrule_lanes<bool> all = ferrule_meet<bool>("simd_any", vote, ferrule_at);
  for (uint i = 0; i < ferrule_width; ++i)
    if ((all.present >> i & 1) != 0 && all.values[i]) return true;
  return false;
}

}  // namespace metal
