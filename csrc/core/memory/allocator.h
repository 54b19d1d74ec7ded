// The caching allocator of one device: buffers that were given back serve the next request of their size class.
#pragma once

#include "core/threads/mutexes.h"

#include <ferrule/backend.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

namespace ferrule {

class Device;

// Bytes, now and at most.
struct MemoryStatistics {
  uint64_t live = 0;      // in use by arrays, outputs and workspaces
  uint64_t cached = 0;    // kept for the next request
  uint64_t prepared = 0;  // packed constants; part of live
  uint64_t borrowed = 0;  // host memory that is lent to the device
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
  // A buffer of size_class(bytes); throws Error(out_of_memory) when the device has none even after a trim. Packed
  // constants live long and come back in no pattern: they have their exact size, and are never cached.
  fe_module_buffer* take(uint64_t bytes, bool prepared);
  void give_back(fe_module_buffer* buffer, uint64_t bytes, bool prepared) noexcept;
  void count_borrowed(int64_t bytes) { borrowed_ += static_cast<uint64_t>(bytes); }
  // Frees what is cached; false when that was nothing.
  bool trim() noexcept;
  MemoryStatistics statistics() const;

 private:
  fe_error* allocate(uint64_t bytes, fe_module_buffer** out);
  Device& device_;
  const uint64_t most_cached_;
  mutable BriefMutex mutex_;
  std::map<uint64_t, std::vector<fe_module_buffer*>> cache_;
  uint64_t live_ = 0, cached_ = 0, prepared_ = 0, peak_ = 0;
  std::atomic<uint64_t> borrowed_{0};
};

MemoryStatistics memory_statistics(Device& device);
void trim_memory(Device& device);

}  // namespace ferrule
