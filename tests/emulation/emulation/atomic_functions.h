// CUDA's atomic functions: relaxed, and only for the types that CUDA has them for. CUDA C++ Programming Guide, "Atomic
// Functions". Each may be the question of a loop that waits for another thread (poll() of block.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "emulation/block.h"

namespace emulation {

template <class T, class... Types>
concept OneOf = (std::is_same_v<T, Types> || ...);
template <class T>
concept AtomicInteger = OneOf<T, int, unsigned, unsigned long long>;
template <class T>
concept AtomicOrdered = OneOf<T, int, unsigned, long long, unsigned long long>;
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
template <class T>
requires emulation::OneOf<T, int, unsigned> T atomicSub(T* address, std::type_identity_t<T> value,
                                                        EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicSub", at});
  return std::atomic_ref<T>(*address).fetch_sub(value, std::memory_order_relaxed);
}
template <emulation::AtomicInteger T>
T atomicAnd(T* address, std::type_identity_t<T> value, EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicAnd", at});
  return std::atomic_ref<T>(*address).fetch_and(value, std::memory_order_relaxed);
}
template <emulation::AtomicInteger T>
T atomicOr(T* address, std::type_identity_t<T> value, EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicOr", at});
  return std::atomic_ref<T>(*address).fetch_or(value, std::memory_order_relaxed);
}
template <emulation::AtomicInteger T>
T atomicXor(T* address, std::type_identity_t<T> value, EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicXor", at});
  return std::atomic_ref<T>(*address).fetch_xor(value, std::memory_order_relaxed);
}
template <emulation::AtomicWord T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value,
            EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicCAS", at});
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;
}
template <class T>
requires(emulation::AtomicInteger<T> || emulation::OneOf<T, float>) T
    atomicExch(T* address, std::type_identity_t<T> value, EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicExch", at});
  return std::atomic_ref<T>(*address).exchange(value, std::memory_order_relaxed);
}
template <emulation::AtomicOrdered T>
T atomicMax(T* address, std::type_identity_t<T> value, EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicMax", at});
  return emulation::replace_atomically(address, [value](T old) { return std::max(old, value); });
}
template <emulation::AtomicOrdered T>
T atomicMin(T* address, std::type_identity_t<T> value, EmulationSource at = EmulationSource::current()) {
  emulation::poll({"atomicMin", at});
  return emulation::replace_atomically(address, [value](T old) { return std::min(old, value); });
}
