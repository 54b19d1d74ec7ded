// MTLBuffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "metal/simulated/device.h"
#include "metal/simulated/memory.h"

namespace simulated {

// Numbers of MTLStorageMode.
enum class StorageMode : std::uint8_t { shared = 0, private_to_device = 2 };

class Buffer : public Object {
 public:
  static const objc::Class& own_class();
  // Null if the device has no memory for it, or for a fault.
  static Buffer* make(Device& device, std::size_t length, std::size_t options, const char* selector);
  static Buffer* around(Device& device, void* pointer, std::size_t length, std::size_t options,
                        const void* deallocator);

  Buffer(Device& device, std::size_t length, std::size_t options, std::unique_ptr<GuardedMemory> memory);
  Buffer(Device& device, void* pointer, std::size_t length, std::size_t options);
  ~Buffer();

  std::size_t length() const { return length_; }
  std::byte* gpu() const { return gpu_; }  // the memory that the device uses
  Device& device() const { return *device_; }
  bool is_tracked() const { return (options_ >> 8U & 3U) != 1; }
  StorageMode mode() const { return static_cast<StorageMode>(options_ >> 4U & 15U); }
  // Whether `bytes` bytes from `offset` on are in the buffer.
  bool has(std::size_t offset, std::size_t bytes) const { return offset <= length_ && bytes <= length_ - offset; }

 private:
  void* contents() const { return cpu_; }

  const Owned<Device> device_;
  const std::size_t length_, options_;
  const std::unique_ptr<GuardedMemory> memory_;
  std::byte *gpu_ = nullptr, *cpu_ = nullptr;
};

}  // namespace simulated
