// Host memory that kernels use by way of the driver: registered, or allocated by it. A page can be registered once, so
// registrations are shared by all who borrow their memory, and by all devices.
#pragma once

#include <cstdint>
#include <vector>

#include "device/open_device.h"

namespace ferrule::cuda {

inline uint64_t number_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Keeps a range of the host's memory usable by kernels. Ranges may overlap; they end in any order, on any thread.
class HostRange {
 public:
  // Pages of memory. Registers those that are not registered yet. Memory that was allocated by `host_allocate`, or that
  // another library has registered or allocated, must stay so while the range exists. The device must be the thread's
  // current one. Throws FE_UNSUPPORTED with the reason, or the loss of the device.
  HostRange(OpenDevice& device, void* pointer, uint64_t size, bool is_read_only);
  HostRange(const HostRange&) = delete;
  HostRange& operator=(const HostRange&) = delete;
  ~HostRange();

  uint64_t address() const { return address_; }  // for kernels
  // Number of bytes, of `size` from `offset` on, that one copy may have: those of one registration.
  uint64_t copied_at_once(uint64_t offset, uint64_t size) const;

 private:
  void share(OpenDevice& device, bool is_read_only);
  // Unregisters memory that is no longer used.
  void drop_unused() noexcept;

  const uint64_t begin_, end_;  // the host's addresses
  bool is_counted_ = false;     // its registrations are this module's
  uint64_t address_ = 0;
  std::vector<uint64_t> seams_;  // offsets at which a registration ends and the next one begins
};

// Whether memory is part of an allocation by `host_allocate`, or another library has registered or allocated it. The
// device must be the thread's current one.
bool is_pinned(const void* pointer, uint64_t size);
// Called for each allocation, and before it is freed.
void add_host_allocation(const void* pointer, uint64_t size);
void remove_host_allocation(const void* pointer) noexcept;

}  // namespace ferrule::cuda
