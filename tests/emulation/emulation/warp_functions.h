// CUDA's functions of a warp. CUDA C++ Programming Guide, "Warp Vote Functions", "Warp Shuffle Functions", "Warp Reduce
// Functions".
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>
#include <type_traits>

#include "emulation/block.h"

constexpr int warpSize = emulation::warp_size;
namespace emulation {

template <class T>
T lane_value(const Meeting::Lanes& lanes, unsigned lane, const Site& site) {
  static_assert(sizeof(T) <= Meeting::most_bytes && std::is_trivially_copyable_v<T>);
  if ((lanes.present >> lane & 1) == 0)
    current_block->fail(site, "lane " + std::to_string(lane) + ", whose value is read, did not take part");
  T value;
  std::memcpy(&value, lanes.values[lane].data(), sizeof value);
  return value;
}

inline void check_width(int width, const Site& site) {
  if (width <= 0 || width > warpSize || !std::has_single_bit(static_cast<unsigned>(width)))
    current_block->fail(site, "the width " + std::to_string(width) + " is no power of two up to 32");
}

// The value of the lane that `source` names, given the own lane within its segment of `width` lanes; a lane outside of
// the segment stands for the own one.
template <class T, class Source>
T shuffle(std::uint32_t mask, T value, int width, const Site& site, const Source& source) {
  check_width(width, site);
  const Meeting::Lanes& lanes = current_thread->warp->meet(mask, site, &value, sizeof value);
  const int own = static_cast<int>(current_thread->lane), first = own / width * width;
  const int chosen = source(own - first);
  return chosen < 0 || chosen >= width ? value : lane_value<T>(lanes, static_cast<unsigned>(first + chosen), site);
}

}  // namespace emulation

template <class T>
T __shfl_sync(std::uint32_t mask, T value, int lane, int width = warpSize,
              EmulationSource at = EmulationSource::current()) {
  return emulation::shuffle(mask, value, width, {"__shfl_sync", at}, [&](int) { return lane & (width - 1); });
}
template <class T>
T __shfl_up_sync(std::uint32_t mask, T value, unsigned delta, int width = warpSize,
                 EmulationSource at = EmulationSource::current()) {
  return emulation::shuffle(mask, value, width, {"__shfl_up_sync", at},
                            [&](int own) { return own - static_cast<int>(delta); });
}
template <class T>
T __shfl_down_sync(std::uint32_t mask, T value, unsigned delta, int width = warpSize,
                   EmulationSource at = EmulationSource::current()) {
  return emulation::shuffle(mask, value, width, {"__shfl_down_sync", at},
                            [&](int own) { return own + static_cast<int>(delta); });
}
template <class T>
T __shfl_xor_sync(std::uint32_t mask, T value, int lanes, int width = warpSize,
                  EmulationSource at = EmulationSource::current()) {
  return emulation::shuffle(mask, value, width, {"__shfl_xor_sync", at}, [&](int own) { return own ^ lanes; });
}
inline void __syncwarp(std::uint32_t mask = 0xffffffff, EmulationSource at = EmulationSource::current()) {
  emulation::current_thread->warp->meet(mask, {"__syncwarp", at}, nullptr, 0);
}
inline unsigned __ballot_sync(std::uint32_t mask, int predicate, EmulationSource at = EmulationSource::current()) {
  const bool own = predicate != 0;
  const emulation::Meeting::Lanes& lanes =
      emulation::current_thread->warp->meet(mask, {"__ballot_sync", at}, &own, sizeof own);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < emulation::warp_size; ++lane)
    if ((lanes.present >> lane & 1) != 0 && lanes.values[lane][0] != std::byte{0}) votes |= 1U << lane;
  return votes;
}
inline int __any_sync(std::uint32_t mask, int predicate, EmulationSource at = EmulationSource::current()) {
  return __ballot_sync(mask, predicate, at) != 0 ? 1 : 0;
}
inline int __all_sync(std::uint32_t mask, int predicate, EmulationSource at = EmulationSource::current()) {
  return __ballot_sync(mask, predicate == 0, at) == 0 ? 1 : 0;
}
// The lanes of the warp that have not ended. On a GPU these are the lanes that happen to run together, which may be
// fewer.
inline unsigned __activemask() { return ~emulation::current_thread->warp->ended(); }

// ---- reductions over the lanes of a mask (compute capability 8.0)
namespace emulation {

template <class T, class Combine>
T reduce(std::uint32_t mask, T value, const Site& site, const Combine& combine) {
  const Meeting::Lanes& lanes = current_thread->warp->meet(mask, site, &value, sizeof value);
  std::uint32_t left = lanes.present;
  T total = lane_value<T>(lanes, static_cast<unsigned>(std::countr_zero(left)), site);
  while ((left &= left - 1) != 0)
    total = combine(total, lane_value<T>(lanes, static_cast<unsigned>(std::countr_zero(left)), site));
  return total;
}

template <class T>
concept Reducible = std::is_same_v<T, int> || std::is_same_v<T, unsigned>;

}  // namespace emulation

template <emulation::Reducible T>
T __reduce_add_sync(std::uint32_t mask, T value, EmulationSource at = EmulationSource::current()) {
  return emulation::reduce(mask, value, {"__reduce_add_sync", at}, [](T x, T y) {
    return static_cast<T>(static_cast<unsigned>(x) + static_cast<unsigned>(y));
  });
}
template <emulation::Reducible T>
T __reduce_min_sync(std::uint32_t mask, T value, EmulationSource at = EmulationSource::current()) {
  return emulation::reduce(mask, value, {"__reduce_min_sync", at}, [](T x, T y) { return std::min(x, y); });
}
template <emulation::Reducible T>
T __reduce_max_sync(std::uint32_t mask, T value, EmulationSource at = EmulationSource::current()) {
  return emulation::reduce(mask, value, {"__reduce_max_sync", at}, [](T x, T y) { return std::max(x, y); });
}
inline unsigned __reduce_and_sync(std::uint32_t mask, unsigned value, EmulationSource at = EmulationSource::current()) {
  return emulation::reduce(mask, value, {"__reduce_and_sync", at}, [](unsigned x, unsigned y) { return x & y; });
}
inline unsigned __reduce_or_sync(std::uint32_t mask, unsigned value, EmulationSource at = EmulationSource::current()) {
  return emulation::reduce(mask, value, {"__reduce_or_sync", at}, [](unsigned x, unsigned y) { return x | y; });
}
inline unsigned __reduce_xor_sync(std::uint32_t mask, unsigned value, EmulationSource at = EmulationSource::current()) {
  return emulation::reduce(mask, value, {"__reduce_xor_sync", at}, [](unsigned x, unsigned y) { return x ^ y; });
}
