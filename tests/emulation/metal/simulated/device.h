// MTLDevice.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "metal/objc/foundation.h"
#include "metal/objc/object.h"
#include "metal/simulated/settings.h"

namespace simulated {

using objc::Object;
using objc::Owned;

// Structures of Metal, by value in messages.
struct Size {
  std::size_t width = 0, height = 0, depth = 0;
};
struct Range {
  std::size_t location = 0, length = 0;
};

constexpr std::size_t device_most_threads = 1024, most_threadgroup_bytes = std::size_t{32} << 10;

class Device : public Object {
 public:
  static const objc::Class& own_class();
  explicit Device(std::size_t number);

  const std::string& title() const { return title_; }
  bool has_unified_memory() const { return settings().has_unified_memory; }
  bool supports(long family) const;
  // Multiples of this many bytes are the offsets of constant buffers.
  std::size_t constant_alignment() const { return supports(1001) ? 4 : 32; }
  // False if the device's memory does not suffice.
  bool take_memory(std::size_t bytes);
  void give_memory(std::size_t bytes) { used_ -= bytes; }

  // Once set, all later command buffers fail with it.
  std::atomic<CommandBufferError> lasting_error{};

 private:
  Object* name() const { return objc::String::autoreleased_of(title_); }
  bool is_low_power() const { return false; }
  bool is_removable() const { return false; }
  std::uint64_t recommended_working_set() const { return settings().memory / 4 * 3; }
  std::size_t allocated() const { return used_; }
  std::size_t max_buffer() const { return settings().max_buffer; }
  std::size_t max_threadgroup_memory() const { return most_threadgroup_bytes; }
  Object* new_queue();
  Object* new_buffer(std::size_t length, std::size_t options);
  Object* new_buffer_around(void* pointer, std::size_t length, std::size_t options, const void* deallocator);
  Object* new_library(Object* source, Object* options, Object** error);
  Object* new_pipeline(Object* descriptor, std::size_t options, Object** reflection, Object** error);
  Object* new_archive(Object* descriptor, Object** error);
  Object* new_shared_event();
  bool is_removed() const { return lasting_error == CommandBufferError::device_removed; }

  const std::string title_;
  std::atomic<std::size_t> used_{0};
};

// The devices that MTLCopyAllDevices lists. They live as long as the process.
const std::vector<Device*>& devices();

}  // namespace simulated
