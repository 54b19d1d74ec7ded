// CUDA's functions of a warp. CUDA C++ Programming Guide, "Warp Vote Functions", "Warp Shuffle Functions".
#pragma once

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
