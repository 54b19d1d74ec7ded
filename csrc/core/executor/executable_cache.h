// A cache of compiled graphs by key, such as those of lazy arrays (lazy/evaluate.cpp) and of the calls of a function
// (fe_calls).
#pragma once

#include "core/sync/mutexes.h"

#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ferrule {

// A full cache removes the entry that was not used for longest. `Value` is a shared pointer: a removed value is
// released outside of the lock, and lives until all that found it have released it. Thread-safe.
template <class Value>
class ExecutableCache {
 public:
  struct Counts {
    std::size_t hits = 0, misses = 0, size = 0;
  };

  explicit ExecutableCache(std::size_t capacity) : capacity_(capacity) {}
  std::size_t capacity() const { return capacity_; }

  // Null if there is none.
  Value find(std::string_view key) {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    ++counts_.hits;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }

  // Returns the value that is kept: that of another thread if it came first.
  Value insert(std::string key, Value value) {
    std::list<Entry> added, gone;
    added.emplace_front(std::move(key), std::move(value));
    const std::scoped_lock lock(mutex_);
    ++counts_.misses;
    const auto [place, is_new] = entries_.emplace(added.front().first, added.begin());
    order_.splice(order_.begin(), is_new ? added : order_, place->second);
    if (order_.size() > capacity_) {
      entries_.erase(order_.back().first);
      gone.splice(gone.begin(), order_, std::prev(order_.end()));
    }
    return order_.front().second;
  }

  void clear() {
    std::list<Entry> gone;
    const std::scoped_lock lock(mutex_);
    entries_.clear();
    gone.swap(order_);
  }

  Counts counts() const {
    const std::scoped_lock lock(mutex_);
    return {counts_.hits, counts_.misses, order_.size()};
  }

 private:
  using Entry = std::pair<std::string, Value>;
  const std::size_t capacity_;
  mutable BriefMutex mutex_;
  std::list<Entry> order_;                                                             // most recently used first
  std::unordered_map<std::string_view, typename std::list<Entry>::iterator> entries_;  // keys of `order_`
  Counts counts_;
};

}  // namespace ferrule
