// Memory of a device: MTLBuffers.
#pragma once

#include <ferrule/backend.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "device/physical_device.h"

namespace ferrule::metal {

// A part of an MTLBuffer. Shared by the queues that use it.
struct Memory {
  Owned buffer;
  uint64_t size = 0;
  char* host = nullptr;  // the first byte for the host; null if the host cannot access it
};
using MemoryPointer = std::shared_ptr<const Memory>;

// Whether new memory is for the device alone, or also for the host.
enum class Place { device, shared };

// Throws FE_OUT_OF_MEMORY, and FE_DEVICE_LOST if the device was removed.
MemoryPointer allocate(const PhysicalDevice& device, uint64_t size, Place place);
// Whole pages of host memory, which outlive the result. Throws FE_UNSUPPORTED if Metal does not take them.
MemoryPointer borrow(const PhysicalDevice& device, void* pointer, uint64_t size);

// Whether parts of two buffers, each of `size` bytes, have bytes in common. Buffers over borrowed pages may.
bool overlap(const Memory& a, uint64_t a_offset, const Memory& b, uint64_t b_offset, uint64_t size);
// Whether two buffers have bytes in common.
bool overlap(const Memory& a, const Memory& b);

// Borrowed memory. As long as a Buffer of these pages lives, further ones share its MTLBuffer, because Metal
// orders the uses of a buffer, but not those of two buffers over the same memory. Thread-safe.
class BorrowedMemory {
 public:
  // The memory, for as long as the caller has the pointer. Metal maps the pages when a buffer is made, so work in
  // progress does not count: its pages may have been returned, and others may have come in their place.
  using Lease = std::shared_ptr<const MemoryPointer>;
  Lease lease(const PhysicalDevice& device, void* pointer, uint64_t size);

 private:
  using Pages = std::pair<void*, uint64_t>;
  struct State {
    std::mutex mutex;
    std::map<Pages, std::weak_ptr<const MemoryPointer>> leases;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Memory of a device, in the SDK's interface.
class Buffer final : public sdk::Buffer {
 public:
  explicit Buffer(MemoryPointer memory) : memory_(std::move(memory)) {}
  explicit Buffer(BorrowedMemory::Lease lease) : memory_(*lease), lease_(std::move(lease)) {}
  const MemoryPointer& memory() const { return memory_; }

 private:
  MemoryPointer memory_;
  BorrowedMemory::Lease lease_;  // null unless the memory is borrowed
};
inline Buffer& buffer_of(fe_module_buffer* handle) {
  return static_cast<Buffer&>(*reinterpret_cast<sdk::Buffer*>(handle));
}

// Host memory that the device copies from and to: buffers that both can access, found by their addresses. Thread-safe.
class HostAllocations {
 public:
  void* add(MemoryPointer memory);
  void remove(void* pointer);
  // The buffer that holds these bytes, and where they begin in it.
  struct Found {
    MemoryPointer memory;
    uint64_t offset = 0;
  };
  Found find(const void* pointer, uint64_t size) const;

 private:
  mutable std::mutex mutex_;
  std::map<const char*, MemoryPointer> by_address_;
};

}  // namespace ferrule::metal
