// Keeps what takes long to make, such as compiled kernels, as long as something uses it, and the most recently used of
// the rest.
#ifndef FERRULE_CPP_IDLE_CACHE_HPP
#define FERRULE_CPP_IDLE_CACHE_HPP

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ferrule::sdk {

// Thread-safe. An entry is idle when only the cache holds it.
template <class T>
class IdleCache {
 public:
  using Pointer = std::shared_ptr<const T>;

  // Keeps `most` idle entries; those beyond are dropped when the next one is made.
  explicit IdleCache(size_t most) : most_(most) {}
  IdleCache(const IdleCache&) = delete;
  IdleCache& operator=(const IdleCache&) = delete;

  // The entry of that key; if there is none, what `make` returns. `make` runs without the lock, as it takes long: of
  // two threads that race, the second one drops what it made. What `make` throws is
  // passed on; it must not return null.
  template <class Make>
  Pointer get(std::string key, Make&& make) {
    {
      const std::lock_guard lock(mutex_);
      if (Pointer known = find(key)) return known;
    }
    Pointer made = std::forward<Make>(make)();
    std::list<Entry> entry, idle;  // destroyed without the lock
    entry.push_back({std::move(key), made});
    const std::lock_guard lock(mutex_);
    if (Pointer known = find(entry.front().key)) return known;
    by_key_.emplace(entry.front().key, entry.begin());
    entries_.splice(entries_.begin(), entry);
    idle = take_idle();
    return made;
  }

  void clear() {
    std::list<Entry> all;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    by_key_.clear();
    all.swap(entries_);
  }
  size_t count() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::string key;
    Pointer value;
  };

  Pointer find(std::string_view key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  // Removes idle entries beyond the limit. Entries are handed out only under the lock, so an idle one stays idle.
  std::list<Entry> take_idle() {
    std::list<Entry> taken;
    size_t idle = 0;
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      if (entry->value.use_count() == 1 && ++idle > most_) {
        by_key_.erase(entry->key);
        taken.splice(taken.end(), entries_, entry);
      }
      entry = next;
    }
    return taken;
  }

  const size_t most_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, typename std::list<Entry>::iterator> by_key_;
};

}  // namespace ferrule::sdk

#endif
