// Which memory a piece of work touches. The host can do at once what touches none of it.
#pragma once

#include <algorithm>

#include "memory.h"

namespace ferrule::vulkan {

class Touched {
 public:
  Touched() = default;  // nothing
  Touched(std::initializer_list<const Allocation*> allocations) {
    for (const Allocation* allocation : allocations) add(*allocation);
  }
  void add(const Allocation& allocation) { addresses_.push_back(allocation.address); }
  bool meets(const Touched& other) const {
    return std::find_first_of(addresses_.begin(), addresses_.end(), other.addresses_.begin(), other.addresses_.end()) !=
           addresses_.end();
  }

 private:
  std::vector<uint64_t> addresses_;  // where the allocations begin
};

}  // namespace ferrule::vulkan
