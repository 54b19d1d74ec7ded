// The allocations that a piece of work uses. What uses none of them the host can do at once.
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
  std::vector<uint64_t> addresses_;  // where the allocations begin
};

}  // namespace ferrule::vulkan
