// Memory of the host that devices can reach, and what a pointer points to.
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "cuda/runtime/process_state.h"
#include "cuda/runtime/state.h"

using namespace emulation;

namespace {

std::mutex& mutex() { return process_state().host_mutex; }
std::map<std::uintptr_t, HostRange>& ranges() { return process_state().host_ranges; }

constexpr std::uintptr_t page_of(std::uintptr_t address) { return address / 4096 * 4096; }

// The entry that contains the address; end() if none does.
template <class Map, class Size>
auto containing(Map& map, std::uintptr_t address, const Size& size_of) {
  auto found = map.upper_bound(address);
  if (found == map.begin()) return map.end();
  --found;
  return address - found->first < size_of(found->second) ? found : map.end();
}

cudaError_t add(void* pointer, const HostRange& range) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const std::scoped_lock lock(mutex());
  // Pages are what is registered, once for all devices and users.
  const auto next = ranges().lower_bound(page_of(begin));
  const auto overlaps = [&](const auto& other) {
    return page_of(other.first) < begin + range.bytes && page_of(begin) < other.first + other.second.bytes;
  };
  if (next != ranges().end() && overlaps(*next)) return cudaErrorHostMemoryAlreadyRegistered;
  if (next != ranges().begin() && overlaps(*std::prev(next))) return cudaErrorHostMemoryAlreadyRegistered;
  ranges()[begin] = range;
  log_made(range.is_registered ? "registration" : "host memory");
  return cudaSuccess;
}

bool remove(void* pointer, bool is_registered) {
  const std::scoped_lock lock(mutex());
  const auto found = ranges().find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == ranges().end() || found->second.is_registered != is_registered) return false;
  ranges().erase(found);
  log_ended(is_registered ? "registration" : "host memory");
  return true;
}

}  // namespace

bool emulation::crosses_host_range(const void* pointer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer), end = begin + bytes;
  const std::scoped_lock lock(mutex());
  const auto overlaps = [&](const auto& range) {
    return range.first < end && begin < range.first + range.second.bytes &&
           !(range.first <= begin && end <= range.first + range.second.bytes);
  };
  const auto next = ranges().lower_bound(begin);
  return (next != ranges().end() && overlaps(*next)) || (next != ranges().begin() && overlaps(*std::prev(next)));
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  if (const cudaError_t error = begin_unsafe_call("cudaHostAlloc"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (pointer == nullptr || (flags & ~7U) != 0) return noted(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  void* const memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (memory == nullptr) return noted(cudaErrorMemoryAllocation);
#if defined(__SANITIZE_ADDRESS__)
  // Pages are whole, and what is behind the end must not be used.
  __asan_poison_memory_region(static_cast<char*>(memory) + bytes, (bytes + 4095) / 4096 * 4096 - bytes);
#endif
  *pointer = memory;
  return noted(add(memory, {bytes, current_device().number, false}));
}

cudaError_t cudaFreeHost(void* pointer) {
  if (const cudaError_t error = begin_unsafe_call("cudaFreeHost"); error != cudaSuccess) return noted(error);
  if (pointer == nullptr) return noted(health());
  if (!remove(pointer, false)) return noted(cudaErrorInvalidValue);
  std::free(pointer);
  return noted(health());
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  if (const cudaError_t error = begin_unsafe_call("cudaHostRegister"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (pointer == nullptr || bytes == 0 || (flags & ~15U) != 0) return noted(cudaErrorInvalidValue);
  return noted(add(pointer, {bytes, current_device().number, true}));
}

cudaError_t cudaHostUnregister(void* pointer) {
  if (const cudaError_t error = begin_unsafe_call("cudaHostUnregister"); error != cudaSuccess) return noted(error);
  return noted(remove(pointer, true) ? health() : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  if (const cudaError_t error = begin_device_call("cudaHostGetDevicePointer"); error != cudaSuccess)
    return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (device_pointer == nullptr || flags != 0) return noted(cudaErrorInvalidValue);
  const std::scoped_lock lock(mutex());
  const auto found = containing(ranges(), reinterpret_cast<std::uintptr_t>(host_pointer),
                                [](const HostRange& range) { return range.bytes; });
  if (found == ranges().end()) return noted(cudaErrorInvalidValue);
  *device_pointer = host_pointer;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (const cudaError_t error = begin_device_call("cudaPointerGetAttributes"); error != cudaSuccess)
    return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (attributes == nullptr) return noted(cudaErrorInvalidValue);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  void* const same = const_cast<void*>(pointer);
  for (const auto& device : devices()) {
    const std::scoped_lock lock(device->mutex);
    const auto found = containing(device->allocations, address, [](std::size_t bytes) { return bytes; });
    if (found == device->allocations.end()) continue;
    *attributes = {cudaMemoryTypeDevice, device->number, same, nullptr};
    return cudaSuccess;
  }
  const std::scoped_lock lock(mutex());
  const auto found = containing(ranges(), address, [](const HostRange& range) { return range.bytes; });
  if (found == ranges().end())
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, same};
  else
    *attributes = {cudaMemoryTypeHost, found->second.device, same, same};
  return cudaSuccess;
}
