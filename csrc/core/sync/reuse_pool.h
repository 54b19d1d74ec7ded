// A pool of reused objects, which saves allocating their memory each time.
#pragma once

#include "core/sync/mutexes.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ferrule {

// T needs a default constructor; `void clear() noexcept`, which drops its contents and keeps its capacity; and
// `bool is_large() const noexcept`, for objects too large to keep. Thread-safe.
template <class T>
class ReusePool {
 public:
  // Holds an object for one use; clears it and returns it to the pool at the end.
  class Use {
   public:
    explicit Use(ReusePool& pool) : pool_(&pool), object_(pool.take()) {}
    Use(Use&& other) noexcept = default;
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (object_) pool_->give_back(std::move(object_));
    }
    T* operator->() const { return object_.get(); }
    T& operator*() const { return *object_; }

   private:
    ReusePool* pool_;
    std::unique_ptr<T> object_;
  };

 private:
  std::unique_ptr<T> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<T> object = std::move(free_.back());
        free_.pop_back();
        return object;
      }
    }
    return std::make_unique<T>();
  }
  void give_back(std::unique_ptr<T> object) noexcept {
    object->clear();
    if (object->is_large()) return;
    const std::scoped_lock lock(mutex_);
    try {
      free_.push_back(std::move(object));
    } catch (...) {  // out of memory: the object is destroyed
    }
  }

  BriefMutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace ferrule
