// Host memory that the device copies from and to at full speed, found by its host address.
#pragma once

#include <map>

#include "buffers/device_memory.h"

namespace ferrule::vulkan {

// Thread-safe.
class HostAllocations {
 public:
  explicit HostAllocations(Memory& memory) : memory_(memory) {}
  void* allocate(uint64_t size);
  // Memory that copies still use is freed when they are done.
  void free(void* pointer);

  // A range of such memory, as an offset in its allocation.
  struct Range {
    std::shared_ptr<Allocation> memory;  // null: the bytes are in other memory
    uint64_t offset = 0;
  };
  Range find(const void* pointer, uint64_t size) const;

 private:
  Memory& memory_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, std::shared_ptr<Allocation>> allocated_;
};

}  // namespace ferrule::vulkan
