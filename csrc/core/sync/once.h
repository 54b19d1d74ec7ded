// Values that are found out when first asked for.
#pragma once

#include "core/sync/mutexes.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace ferrule {

// A value found out once in the process and never destroyed; declare it static constinit. Neither a function's static
// object nor std::call_once, which in the child of a fork wait for ever for the thread that was in the middle of it:
// the child finds the value out for itself. What finds it out may throw; then the next one to ask does so again.
template <class T>
class Once {
 public:
  constexpr Once() noexcept = default;

  template <class Find>
  const T& get(Find find) {
    if (const T* value = value_.load(std::memory_order_acquire)) return *value;
    const std::scoped_lock lock(mutex_);
    if (const T* value = value_.load(std::memory_order_relaxed)) return *value;
    const T* found = std::make_unique<T>(find()).release();
    value_.store(found, std::memory_order_release);
    return *found;
  }

 private:
  LongMutex mutex_;
  std::atomic<const T*> value_{nullptr};
};

}  // namespace ferrule
