// Memory that stays with what uses it again and again, until its device is short of memory.
#pragma once

#include "core/sync/mutexes.h"

#include <cstdint>
#include <memory>
#include <set>

namespace ferrule {

class Device;
class DeviceQueue;
class Storage;

// The workspace of an executable, say: the same for each of its runs, which follow one another in a queue. Any thread.
class KeptMemory {
 public:
  // `size` > 0. Takes nothing yet.
  KeptMemory(std::shared_ptr<Device> device, uint64_t size, const DeviceQueue* queue);
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  // The same as last time, unless it was given back meanwhile. Throws as Storage::allocate.
  std::shared_ptr<Storage> get();

 private:
  friend class KeptMemories;
  const std::shared_ptr<Device> device_;
  const uint64_t size_;
  const DeviceQueue* const queue_;
  std::shared_ptr<Storage> storage_;  // guarded by the device's KeptMemories
};

// Of one device.
class KeptMemories {
 public:
  explicit KeptMemories(Device&) {}
  // Gives all of it back to the allocator; who uses it keeps it until then.
  void give_back() noexcept;

 private:
  friend class KeptMemory;
  BriefMutex mutex_;  // of what follows
  std::set<KeptMemory*> all_;
};

}  // namespace ferrule
