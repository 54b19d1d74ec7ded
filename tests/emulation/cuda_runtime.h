// What CUDA C++ gives device code, for the emulator: qualifiers, built-in variables, barriers, functions of warps,
// atomic functions. Names and rules: CUDA C++ Programming Guide, "C++ Language Extensions".
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "cuda_runtime_api.h"
#include "emulation/block.h"
#include "emulation/launch.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict

#define threadIdx (::emulation::current_thread->index)
#define blockIdx (::emulation::current_block->index())
#define blockDim (::emulation::current_block->shape().block)
#define gridDim (::emulation::current_block->shape().grid)
constexpr int warpSize = emulation::warp_size;

// `__shared__ type name extents` in CUDA: FERRULE_SHARED(float, tile, [32][33]);
#define FERRULE_SHARED(type, name, ...)      \
  using name##_type = type __VA_ARGS__;      \
  static_assert(alignof(name##_type) <= 16); \
  static const char name##_key = 0;          \
  name##_type& name = *static_cast<name##_type*>(::emulation::current_block->shared(&name##_key, sizeof(name##_type)))
// `extern __shared__ type name[]` in CUDA.
#define FERRULE_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::emulation::current_block->dynamic_shared())

// ---- barriers of the block
using EmulationSource = std::source_location;
inline void __syncthreads(EmulationSource at = EmulationSource::current()) {
  emulation::current_block->wait_at_barrier(0, 0, {"__syncthreads", at}, false);
}
inline int __syncthreads_count(int predicate, EmulationSource at = EmulationSource::current()) {
  return static_cast<int>(
      emulation::current_block->wait_at_barrier(0, 0, {"__syncthreads_count", at}, predicate != 0).count);
}
inline int __syncthreads_and(int predicate, EmulationSource at = EmulationSource::current()) {
  const emulation::Votes votes =
      emulation::current_block->wait_at_barrier(0, 0, {"__syncthreads_and", at}, predicate != 0);
  return votes.count == votes.threads ? 1 : 0;
}
inline int __syncthreads_or(int predicate, EmulationSource at = EmulationSource::current()) {
  return emulation::current_block->wait_at_barrier(0, 0, {"__syncthreads_or", at}, predicate != 0).count != 0 ? 1 : 0;
}
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// ---- functions of a warp
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

// ---- atomic functions: relaxed, as in CUDA
namespace emulation {

// Replaces the value by `compute(value)`, and returns the one before.
template <class T, class Compute>
T replace_atomically(T* address, const Compute& compute) {
  std::atomic_ref<T> target(*address);
  T old = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(old, compute(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace emulation

template <class T>
T atomicAdd(T* address, T value) {
  if constexpr (std::is_integral_v<T>) return std::atomic_ref<T>(*address).fetch_add(value, std::memory_order_relaxed);
  return emulation::replace_atomically(address, [value](T old) { return old + value; });
}
template <class T>
T atomicCAS(T* address, T expected, T value) {
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;
}
template <class T>
T atomicExch(T* address, T value) {
  return std::atomic_ref<T>(*address).exchange(value, std::memory_order_relaxed);
}
template <class T>
T atomicMax(T* address, T value) {
  return emulation::replace_atomically(address, [value](T old) { return std::max(old, value); });
}
template <class T>
T atomicMin(T* address, T value) {
  return emulation::replace_atomically(address, [value](T old) { return std::min(old, value); });
}
