// The allocations that a piece of work uses. The host can do work at once if it touches none of them.
#pragma once

#include <algorithm>

#include "buffers/device_memory.h"

namespace ferrule::vulkan {

class AllocationSet {
 public:
  AllocationSet() = default;  // nothing
  AllocationSet(std::initializer_list<const Allocation*> allocations) {
    for (const Allocation* allocation : allocations) add(*allocation);
  }
  void add(const Allocation& allocation) { addresses_.push_back(allocation.address); }
  bool intersects(const AllocationSet& other) const {
    return std::find_first_of(addresses_.begin(), addresses_.end(), other.addresses_.begin(), other.addresses_.end()) !=
           addresses_.end();
  }

 private:
  std::vector<uint64_t> addresses_;  // the addresses of the allocations
};

}  // namespace ferrule::vulkan
