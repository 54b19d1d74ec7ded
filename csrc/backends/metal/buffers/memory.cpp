#include "buffers/memory.h"

#include <functional>

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
  if (const uint64_t most = device.description.max_allocation; size > most)
    throw sdk::Error(FE_OUT_OF_MEMORY, device.description.name + " makes no buffer of " + std::to_string(size) +
                                           " bytes, but of up to " + std::to_string(most));
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
  const uint64_t page = device.description.borrow_alignment;
  if (reinterpret_cast<uintptr_t>(pointer) % page != 0 || size % page != 0 || size == 0 ||
      size > device.description.max_allocation)
    throw sdk::Error(FE_UNSUPPORTED, device.description.name + " maps whole pages of " + std::to_string(page) +
                                         " bytes, up to " + std::to_string(device.description.max_allocation) +
                                         " bytes");
  auto memory = std::make_shared<Memory>();
  memory->buffer = Owned::taken(send<Id>(device.device.get(), Message::new_buffer_with_bytes_no_copy, pointer,
                                         static_cast<Unsigned>(size), storage_shared, static_cast<void*>(nullptr)));
  if (!memory->buffer) throw sdk::Error(FE_UNSUPPORTED, device.description.name + " does not map this host memory");
  memory->size = size;
  memory->host = static_cast<char*>(pointer);
  return memory;
}

bool overlap(const Memory& a, uint64_t a_offset, const Memory& b, uint64_t b_offset, uint64_t size) {
  if (&a == &b) return a_offset < b_offset + size && b_offset < a_offset + size;
  if (a.host == nullptr || b.host == nullptr) return false;
  const char *const a_begin = a.host + a_offset, *const b_begin = b.host + b_offset;
  return std::less()(a_begin, b_begin + size) && std::less()(b_begin, a_begin + size);
}

bool overlap(const Memory& a, const Memory& b) {
  if (&a == &b) return true;
  return a.host != nullptr && b.host != nullptr && std::less()(a.host, b.host + b.size) &&
         std::less()(b.host, a.host + a.size);
}

BorrowedMemory::Lease BorrowedMemory::lease(const PhysicalDevice& device, void* pointer, uint64_t size) {
  const Pages pages(pointer, size);
  const auto find = [&]() -> Lease {
    const auto found = state_->leases.find(pages);
    return found != state_->leases.end() ? found->second.lock() : nullptr;
  };
  {
    const std::lock_guard lock(state_->mutex);
    if (Lease known = find()) return known;
  }
  auto memory = std::make_unique<const MemoryPointer>(borrow(device, pointer, size));
  Lease made(memory.release(), [pages, state = state_](const MemoryPointer* ended) {
    {
      const std::lock_guard lock(state->mutex);
      const auto found = state->leases.find(pages);
      if (found != state->leases.end() && found->second.expired()) state->leases.erase(found);
    }
    delete ended;
  });
  const std::lock_guard lock(state_->mutex);
  if (Lease known = find()) return known;
  state_->leases[pages] = made;
  return made;
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
