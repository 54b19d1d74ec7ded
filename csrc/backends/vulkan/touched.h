// Which memory a piece of work touches. What touches none of it need not wait for it.
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
  static Touched everything() {
    Touched out;
    out.is_everything_ = true;
    return out;
  }
  void add(const Allocation& allocation) {
    // Two allocations may be the same memory of the host's: what is borrowed is taken for one.
    addresses_.push_back(allocation.is_borrowed ? borrowed : allocation.address);
  }
  bool meets(const Touched& other) const {
    if (is_everything_ || other.is_everything_) return true;
    return std::find_first_of(addresses_.begin(), addresses_.end(), other.addresses_.begin(), other.addresses_.end()) !=
           addresses_.end();
  }

 private:
  static constexpr uint64_t borrowed = 0;  // no allocation's address
  std::vector<uint64_t> addresses_;        // where the allocations begin
  bool is_everything_ = false;
};

}  // namespace ferrule::vulkan
