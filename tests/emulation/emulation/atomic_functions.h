// CUDA's atomic functions that kernels use: relaxed, and only for the types that CUDA has them for. CUDA C++
// Programming Guide, "Atomic Functions". Each may be the question of a loop that waits for another thread (poll() of
// block.h).
#pragma once

#include <atomic>
#include <type_traits>

#include "emulation/block.h"

namespace emulation {

template <class T, class... Types>
concept OneOf = (std::is_same_v<T, Types> || ...);
template <class T>
concept AtomicInteger = OneOf<T, int, unsigned, unsigned long long>;
template <class T>
concept AtomicNumber = AtomicInteger<T> || OneOf<T, float, double>;
template <class T>
concept AtomicWord = AtomicInteger<T> || OneOf<T, unsigned short>;

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

template <emulation::AtomicNumber T>
T atomicAdd(T* address, std::type_identity_t<T> value, EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicAdd", at});
  if constexpr (std::is_integral_v<T>) return std::atomic_ref<T>(*address).fetch_add(value, std::memory_order_relaxed);
  return emulation::replace_atomically(address, [value](T old) { return old + value; });
}
template <emulation::AtomicWord T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value,
            EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicCAS", at});
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;
}
