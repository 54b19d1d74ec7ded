#include "core/memory/kept_memory.h"

#include "core/memory/storage.h"
#include "core/registry/device.h"

#include <mutex>
#include <utility>

namespace ferrule {

KeptMemory::KeptMemory(std::shared_ptr<Device> device, uint64_t size, const DeviceQueue* queue)
    : device_(std::move(device)), size_(size), queue_(queue) {
  std::set<KeptMemory*> one = {this};
  KeptMemories& memories = device_->attached<KeptMemories>();
  const std::scoped_lock lock(memories.mutex_);
  memories.all_.insert(one.extract(one.begin()));
}

KeptMemory::~KeptMemory() {
  std::set<KeptMemory*>::node_type removed;
  KeptMemories& memories = device_->attached<KeptMemories>();
  const std::scoped_lock lock(memories.mutex_);
  removed = memories.all_.extract(this);
}

std::shared_ptr<Storage> KeptMemory::get() {
  KeptMemories& memories = device_->attached<KeptMemories>();
  {
    const std::scoped_lock lock(memories.mutex_);
    if (storage_) return storage_;
  }
  std::shared_ptr<Storage> mine = Storage::allocate(device_, size_, queue_);
  std::shared_ptr<Storage> first;
  const std::scoped_lock lock(memories.mutex_);
  if (storage_)
    first = storage_;
  else
    first = storage_ = mine;
  return first;
}

void KeptMemories::give_back() noexcept {
  for (;;) {
    std::shared_ptr<Storage> given;  // released after unlocking
    const std::scoped_lock lock(mutex_);
    for (KeptMemory* const kept : all_)
      if (kept->storage_) {
        given = std::move(kept->storage_);
        break;
      }
    if (!given) return;
  }
}

}  // namespace ferrule
