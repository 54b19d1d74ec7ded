// Values that are computed on first use.
#pragma once

#include "core/sync/mutexes.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace ferrule {

// A value that is computed once per process and never destroyed; declare it static constinit. Local statics and
// std::call_once would hang in the child of a fork that interrupts the computation; here the child computes the value
// again. If `find` throws, the next call tries again.
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
