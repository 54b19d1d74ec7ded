#include "buffers/memory.h"

namespace ferrule::metal {
namespace {

// A device that was removed makes no objects at all.
bool is_removed(const PhysicalDevice& device) {
  return !Owned::taken(send<Id>(device.device.get(), Message::new_shared_event));
}

}  // namespace

MemoryPointer allocate(const PhysicalDevice& device, uint64_t size, Place place) {
  const AutoreleasePool pool;
  const bool is_shared = place == Place::shared || device.is_unified;
  auto memory = std::make_shared<Memory>();
  memory->buffer = Owned::taken(send<Id>(device.device.get(), Message::new_buffer_with_length,
                                         static_cast<Unsigned>(size), is_shared ? storage_shared : storage_private));
  if (!memory->buffer && is_removed(device))
    throw sdk::Error(FE_DEVICE_LOST, device.description.name + " makes no memory any more: it was removed");
  if (!memory->buffer)
    throw sdk::Error(FE_OUT_OF_MEMORY, device.description.name + " has no " + std::to_string(size) + " bytes left");
  memory->size = size;
  if (is_shared) memory->host = static_cast<char*>(send<void*>(memory->buffer.get(), Message::contents));
  return memory;
}

MemoryPointer borrow(const PhysicalDevice& device, void* pointer, uint64_t size) {
  const AutoreleasePool pool;
  auto memory = std::make_shared<Memory>();
  memory->buffer = Owned::taken(send<Id>(device.device.get(), Message::new_buffer_with_bytes_no_copy, pointer,
                                         static_cast<Unsigned>(size), storage_shared, static_cast<void*>(nullptr)));
  if (!memory->buffer) throw sdk::Error(FE_UNSUPPORTED, device.description.name + " does not map this host memory");
  memory->size = size;
  memory->host = static_cast<char*>(pointer);
  return memory;
}

void* HostAllocations::add(MemoryPointer memory) {
  char* const pointer = memory->host;
  const std::lock_guard lock(mutex_);
  by_address_[pointer] = std::move(memory);
  return pointer;
}

void HostAllocations::remove(void* pointer) {
  MemoryPointer removed;  // freed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(static_cast<const char*>(pointer));
  if (found == by_address_.end()) return;
  removed = std::move(found->second);
  by_address_.erase(found);
}

HostAllocations::Found HostAllocations::find(const void* pointer, uint64_t size) const {
  const char* const begin = static_cast<const char*>(pointer);
  const std::lock_guard lock(mutex_);
  auto after = by_address_.upper_bound(begin);
  if (after == by_address_.begin()) return {};
  const auto& [address, memory] = *--after;
  const auto offset = static_cast<uint64_t>(begin - address);
  if (offset > memory->size || size > memory->size - offset) return {};
  return {memory, offset};
}

}  // namespace ferrule::metal
