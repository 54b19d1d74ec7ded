#include "buffers/host_allocations.h"

namespace ferrule::vulkan {

void* HostAllocations::allocate(uint64_t size) {
  auto memory = std::make_shared<Allocation>(memory_.allocate(size, 64, Use::exchange));
  void* const pointer = memory->host;
  const std::lock_guard lock(mutex_);
  allocated_.emplace(reinterpret_cast<uintptr_t>(pointer), std::move(memory));
  return pointer;
}

void HostAllocations::free(void* pointer) {
  std::shared_ptr<Allocation> gone;  // given back without the lock
  const std::lock_guard lock(mutex_);
  const auto found = allocated_.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == allocated_.end()) return;
  gone = std::move(found->second);
  allocated_.erase(found);
}

HostAllocations::Range HostAllocations::find(const void* pointer, uint64_t size) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  auto found = allocated_.upper_bound(address);
  if (found == allocated_.begin()) return {};
  --found;
  const uint64_t offset = address - found->first;
  if (offset > found->second->size || size > found->second->size - offset) return {};
  return {found->second, offset};
}

}  // namespace ferrule::vulkan
