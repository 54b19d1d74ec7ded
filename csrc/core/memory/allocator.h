// The caching allocator of one device. Returned buffers serve later requests of their size class, even while a queue
// still uses them, if the next user is the same queue.
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

// Current and peak bytes.
struct MemoryStatistics {
  uint64_t live = 0;      // in use by arrays, outputs and workspaces
  uint64_t cached = 0;    // kept for later requests
  uint64_t prepared = 0;  // packed constants; part of live
  uint64_t borrowed = 0;  // host memory that the device borrows
  uint64_t peak = 0;      // maximum of live so far
};

class Allocator {
 public:
  explicit Allocator(Device& device);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // The size to which a request is rounded up.
  static uint64_t size_class(uint64_t bytes);
  // A buffer, and the work that must end, or precede in the same queue, before the buffer is used.
  struct Grant {
    fe_module_buffer* buffer = nullptr;
    Fences fences = {};
  };
  // A buffer of size_class(bytes) for use by `queue`, or by the host if it is null. Throws Error(out_of_memory) if the
  // device has none even after make_room(). Packed constants live long and have irregular sizes: they get their exact
  // size and are never cached.
  Grant take(uint64_t bytes, bool prepared, const DeviceQueue* queue);
  // `fences`: work that still uses the buffer.
  void give_back(fe_module_buffer* buffer, uint64_t bytes, bool prepared, Fences fences) noexcept;
  void count_borrowed(int64_t bytes) { borrowed_ += static_cast<uint64_t>(bytes); }
  // Frees the cached buffers that no queue uses; false if there are none.
  bool trim() noexcept;
  // Gives back kept memory, waits for the queues, then trims.
  bool make_room();
  // Limit of live plus cached bytes; 0 = unlimited.
  void set_limit(uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    limit_ = bytes;
  }
  MemoryStatistics statistics() const;

 private:
  fe_error* allocate(uint64_t bytes, fe_module_buffer** out);
  Grant from_cache(uint64_t size, const DeviceQueue* queue);
  void count_live(uint64_t size, bool prepared);  // requires mutex_ locked
  bool fits(uint64_t size) const { return limit_ == 0 || live_ + cached_ + promised_ + size <= limit_; }
  // Whether an allocation fits if the cached bytes are freed first.
  bool may_fit(uint64_t size) const { return live_ + promised_ + size <= limit_; }
  void promise(uint64_t bytes, uint64_t size);
  fe_module_buffer* allocated(uint64_t bytes, uint64_t size);
  bool is_short() const noexcept;
  bool remember(Grant& grant, uint64_t size) noexcept;
  Device& device_;
  mutable BriefMutex mutex_;
  std::map<uint64_t, std::vector<Grant>> cache_;
  uint64_t live_ = 0, cached_ = 0, prepared_ = 0, peak_ = 0, limit_ = 0;
  uint64_t promised_ = 0;                   // being requested from the module
  uint64_t next_look_ = uint64_t{1} << 28;  // cached bytes at which give_back() checks for shortage
  std::atomic<uint64_t> borrowed_{0};
  std::atomic<uint64_t> freed_{0};  // number of buffers that trims freed
  LongMutex making_room_;           // one thread at a time; the others then see what it freed
};

MemoryStatistics memory_statistics(Device& device);
void trim_memory(Device& device);

}  // namespace ferrule
