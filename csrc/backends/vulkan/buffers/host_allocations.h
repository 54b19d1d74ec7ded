// Host memory that the device copies from and to at full speed, as the host's addresses of it.
#pragma once

#include <map>

#include "buffers/device_memory.h"

namespace ferrule::vulkan {

// Any thread.
class HostAllocations {
 public:
  explicit HostAllocations(Memory& memory) : memory_(memory) {}
  void* allocate(uint64_t size);
  // What copies still use goes when they are done.
  void free(void* pointer);

  // Bytes of such memory, as the device finds them.
  struct Range {
    std::shared_ptr<Allocation> memory;  // null: they lie elsewhere
    uint64_t offset = 0;
  };
  Range find(const void* pointer, uint64_t size) const;

 private:
  Memory& memory_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, std::shared_ptr<Allocation>> allocated_;
};

}  // namespace ferrule::vulkan
