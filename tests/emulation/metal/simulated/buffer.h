// MTLBuffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "metal/objc/blocks.h"
#include "metal/simulated/device.h"
#include "metal/simulated/labelled.h"
#include "metal/simulated/memory.h"

namespace simulated {

// Numbers of MTLStorageMode.
enum class StorageMode : std::uint8_t { shared = 0, managed = 1, private_to_device = 2 };

class Buffer : public Object {
 public:
  static const objc::Class& own_class();
  // Null if the device has no memory for it, or for a fault.
  static Buffer* make(Device& device, std::size_t length, std::size_t options, const char* selector);
  static Buffer* around(Device& device, void* pointer, std::size_t length, std::size_t options, void* deallocator);

  Buffer(Device& device, std::size_t length, std::size_t options, std::unique_ptr<GuardedMemory> memory);
  Buffer(Device& device, void* pointer, std::size_t length, std::size_t options, void* deallocator);
  ~Buffer();

  std::size_t length() const { return length_; }
  std::byte* gpu() const { return gpu_; }  // the memory that the device uses
  std::byte* cpu() const { return cpu_; }  // and the program; null if it may not
  Device& device() const { return *device_; }
  bool is_tracked() const { return (options_ >> 8U & 3U) != 1; }
  StorageMode mode() const { return static_cast<StorageMode>(options_ >> 4U & 15U); }
  // Whether `bytes` bytes from `offset` on are in the buffer.
  bool has(std::size_t offset, std::size_t bytes) const { return offset <= length_ && bytes <= length_ - offset; }
  // The device's memory becomes the program's: MTLBlitCommandEncoder's synchronizeResource:.
  void synchronize();

 private:
  void* contents() const { return cpu_; }
  std::size_t storage_mode() const { return static_cast<std::size_t>(mode()); }
  std::size_t tracking_mode() const { return is_tracked() ? 2 : 1; }
  std::size_t options() const { return options_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(gpu_); }
  void modified(Range range);
  Object* its_device() const { return device_.get(); }

  const Owned<Device> device_;
  const std::size_t length_, options_;
  std::unique_ptr<GuardedMemory> memory_, copy_;  // `copy_` is the program's copy of managed memory
  std::byte *gpu_ = nullptr, *cpu_ = nullptr;
  objc::KeptBlock deallocator_;

 public:
  Label label;
};

}  // namespace simulated
