// The caching allocator of one device: buffers that were given back serve the next request of their size class, also
// while a queue still uses them, if the next to use them is that queue.
#pragma once

#include "core/memory/work.h"
#include "core/sync/mutexes.h"

#include <ferrule/backend.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace ferrule {

class Device;

// Bytes, now and at most.
struct MemoryStatistics {
  uint64_t live = 0;      // in use by arrays, outputs and workspaces
  uint64_t cached = 0;    // kept for the next request
  uint64_t prepared = 0;  // packed constants; part of live
  uint64_t borrowed = 0;  // host memory that the device borrows
  uint64_t peak = 0;      // greatest live so far
};

class Allocator {
 public:
  explicit Allocator(Device& device);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // The size that a request is rounded to.
  static uint64_t size_class(uint64_t bytes);
  // A buffer, and the work of queues that has to be over, or to come first, before it is used.
  struct Grant {
    fe_module_buffer* buffer = nullptr;
    Fences fences = {};
  };
  // A buffer of size_class(bytes) for that queue, or, for null, for the host; throws Error(out_of_memory) when the
  // device has none even after a trim. Packed constants live long and come back in no pattern: they have their exact
  // size, and are never cached.
  Grant take(uint64_t bytes, bool prepared, const DeviceQueue* queue);
  // `fences`: work that uses it.
  void give_back(fe_module_buffer* buffer, uint64_t bytes, bool prepared, Fences fences) noexcept;
  void count_borrowed(int64_t bytes) { borrowed_ += static_cast<uint64_t>(bytes); }
  // Frees what is cached and no queue uses any more; false when that was nothing.
  bool trim() noexcept;
  // The same, after the queues have been waited for.
  bool make_room();
  // Bytes that may be live and cached; 0 = as many as there are.
  void set_limit(uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    limit_ = bytes;
  }
  MemoryStatistics statistics() const;

 private:
  fe_error* allocate(uint64_t bytes, fe_module_buffer** out);
  Grant from_cache(uint64_t size, const DeviceQueue* queue);
  void count_live(uint64_t size, bool prepared);  // with mutex_ locked
  bool fits(uint64_t size) const { return limit_ == 0 || live_ + cached_ + promised_ + size <= limit_; }
  // The same without what is cached.
  bool may_fit(uint64_t size) const { return live_ + promised_ + size <= limit_; }
  void promise(uint64_t bytes, uint64_t size);
  fe_module_buffer* allocated(uint64_t bytes, uint64_t size);
  bool is_short() const noexcept;
  bool remember(Grant& grant, uint64_t size) noexcept;
  Device& device_;
  mutable BriefMutex mutex_;
  std::map<uint64_t, std::vector<Grant>> cache_;
  uint64_t live_ = 0, cached_ = 0, prepared_ = 0, peak_ = 0, limit_ = 0;
  uint64_t promised_ = 0;                   // what is being asked of the module
  uint64_t next_look_ = uint64_t{1} << 28;  // bytes cached
  std::atomic<uint64_t> borrowed_{0};
  std::atomic<uint64_t> freed_{0};  // buffers that trims gave back
  LongMutex making_room_;           // by one thread at a time: others see what it freed
};

MemoryStatistics memory_statistics(Device& device);
void trim_memory(Device& device);

}  // namespace ferrule
