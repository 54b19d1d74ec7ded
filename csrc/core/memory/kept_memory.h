// Memory that its user keeps for repeated use until the device is short of memory.
#pragma once

#include "core/sync/mutexes.h"

#include <cstdint>
#include <memory>
#include <set>

namespace ferrule {

class Device;
class DeviceQueue;
class Storage;

// Memory such as the workspace of an executable, shared by its runs, which follow one another in a queue. Thread-safe.
class KeptMemory {
 public:
  // `size` > 0. Allocates nothing yet.
  KeptMemory(std::shared_ptr<Device> device, uint64_t size, const DeviceQueue* queue);
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  // The storage of the previous call, or a new one if that was given back. Throws as Storage::allocate does.
  std::shared_ptr<Storage> get();

 private:
  friend class KeptMemories;
  const std::shared_ptr<Device> device_;
  const uint64_t size_;
  const DeviceQueue* const queue_;
  std::shared_ptr<Storage> storage_;  // guarded by the device's KeptMemories
};

// All kept memory of one device.
class KeptMemories {
 public:
  explicit KeptMemories(Device&) {}
  // Gives all of it back to the allocator; a storage in use stays until its users release it.
  void give_back() noexcept;

 private:
  friend class KeptMemory;
  BriefMutex mutex_;  // guards all_ and the storages in it
  std::set<KeptMemory*> all_;
};

}  // namespace ferrule
