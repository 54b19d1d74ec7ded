// Metal Shading Language Specification, "SIMD-Group Functions". All lanes that have not ended take part: a call that
// some of them do not reach is a fault.
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

// The value of the lane `lane_of`, or the own one if the lane is outside of the SIMD-group and the function says so.
#define FERRULE_SHUFFLE(name, parameter, keeps_own, lane_of)                   \
  template <class T>                                                           \
  ferrule_inline T name(T value, parameter, ferrule_place) {                   \
    const ferrule_lanes<T> all = ferrule_meet<T>(#name, value, ferrule_at);    \
    [[maybe_unused]] const uint own = ferrule_host_lane();                     \
    return keeps_own ? value : ferrule_value(#name, all, lane_of, ferrule_at); \
  }
FERRULE_SHUFFLE(simd_shuffle, ushort lane, false, lane)
FERRULE_SHUFFLE(simd_broadcast, ushort lane, false, lane)
FERRULE_SHUFFLE(simd_shuffle_xor, ushort mask, false, own ^ mask)
FERRULE_SHUFFLE(simd_shuffle_up, ushort delta, own < delta, own - delta)
FERRULE_SHUFFLE(simd_shuffle_down, ushort delta, own + delta >= ferrule_width, own + delta)
FERRULE_SHUFFLE(simd_shuffle_rotate_up, ushort delta, false,
                (own + ferrule_width - delta % ferrule_width) % ferrule_width)
FERRULE_SHUFFLE(simd_shuffle_rotate_down, ushort delta, false, (own + delta) % ferrule_width)
#undef FERRULE_SHUFFLE

// The lanes below the first one have the values of the upper lanes of `fill`.
template <class T>
ferrule_inline T simd_shuffle_and_fill_up(T value, T fill, ushort delta, ferrule_place) {
  const T rotated = simd_shuffle_rotate_up(fill, delta, ferrule_at), moved = simd_shuffle_up(value, delta, ferrule_at);
  return ferrule_host_lane() < delta ? rotated : moved;
}
template <class T>
ferrule_inline T simd_shuffle_and_fill_down(T value, T fill, ushort delta, ferrule_place) {
  const T rotated = simd_shuffle_rotate_down(fill, delta, ferrule_at),
          moved = simd_shuffle_down(value, delta, ferrule_at);
  return ferrule_host_lane() + delta >= ferrule_width ? rotated : moved;
}

template <class T>
ferrule_inline T simd_broadcast_first(T value, ferrule_place) {
  const ferrule_lanes<T> all = ferrule_meet<T>("simd_broadcast_first", value, ferrule_at);
  return all.values[__builtin_ctz(all.present)];
}

// ---- reductions, pair by pair as a GPU does it; floating-point sums of a GPU may have another order
#define FERRULE_REDUCTION(name, ...)                                         \
  template <class T>                                                         \
  ferrule_inline T name(T value, ferrule_place) {                            \
    const ferrule_lanes<T> all = ferrule_meet<T>(#name, value, ferrule_at);  \
    T left[ferrule_width];                                                   \
    uint present = all.present;                                              \
    for (uint i = 0; i < ferrule_width; ++i) left[i] = all.values[i];        \
    for (uint step = ferrule_width / 2; step > 0; step /= 2)                 \
      for (uint i = 0; i < step; ++i) {                                      \
        if ((present >> (i + step) & 1) == 0) continue;                      \
        const T x = left[i], y = left[i + step];                             \
        left[i] = (present >> i & 1) == 0 ? y : static_cast<T>(__VA_ARGS__); \
        present |= 1u << i;                                                  \
      }                                                                      \
    return left[0];                                                          \
  }
FERRULE_REDUCTION(simd_sum, x + y)
FERRULE_REDUCTION(simd_product, x* y)
FERRULE_REDUCTION(simd_min, min(x, y))
FERRULE_REDUCTION(simd_max, max(x, y))
FERRULE_REDUCTION(simd_and, x& y)
FERRULE_REDUCTION(simd_or, x | y)
FERRULE_REDUCTION(simd_xor, x ^ y)
#undef FERRULE_REDUCTION

#define FERRULE_SCAN(name, start, more, ...)                                            \
  template <class T>                                                                    \
  ferrule_inline T name(T value, ferrule_place) {                                       \
    const ferrule_lanes<T> all = ferrule_meet<T>(#name, value, ferrule_at);             \
    const uint end = ferrule_host_lane() + more;                                        \
    T y = static_cast<T>(start);                                                        \
    for (uint i = 0; i < end; ++i)                                                      \
      if ((all.present >> i & 1) != 0) y = static_cast<T>(y __VA_ARGS__ all.values[i]); \
    return y;                                                                           \
  }
FERRULE_SCAN(simd_prefix_inclusive_sum, 0, 1, +)
FERRULE_SCAN(simd_prefix_exclusive_sum, 0, 0, +)
FERRULE_SCAN(simd_prefix_inclusive_product, 1, 1, *)
FERRULE_SCAN(simd_prefix_exclusive_product, 1, 0, *)
#undef FERRULE_SCAN

// ---- votes
class simd_vote {
 public:
  typedef ulong vote_t;
  explicit constexpr simd_vote(vote_t votes = 0) : votes_(votes) {}
  explicit constexpr operator vote_t() const { return votes_; }
  bool all() const { return (votes_ & 0xffffffffUL) == 0xffffffffUL; }
  bool any() const { return votes_ != 0; }

 private:
  vote_t votes_;
};
ferrule_inline simd_vote simd_ballot(bool vote, ferrule_place) {
  const ferrule_lanes<bool> all = ferrule_meet<bool>("simd_ballot", vote, ferrule_at);
  ulong votes = 0;
  for (uint i = 0; i < ferrule_width; ++i)
    if ((all.present >> i & 1) != 0 && all.values[i]) votes |= 1UL << i;
  return simd_vote(votes);
}
ferrule_inline bool simd_any(bool vote, ferrule_place) {
  return static_cast<ulong>(simd_ballot(vote, ferrule_at)) != 0;
}
ferrule_inline bool simd_all(bool vote, ferrule_place) {
  return static_cast<ulong>(simd_ballot(!vote, ferrule_at)) == 0;
}
ferrule_inline simd_vote simd_active_threads_mask(ferrule_place) {
  return simd_vote(ferrule_host_meet("simd_active_threads_mask", ferrule_at, nullptr, 0, nullptr));
}
ferrule_inline bool simd_is_first(ferrule_place) {
  return static_cast<uint>(__builtin_ctz(ferrule_host_meet("simd_is_first", ferrule_at, nullptr, 0, nullptr))) ==
         ferrule_host_lane();
}

}  // namespace metal
