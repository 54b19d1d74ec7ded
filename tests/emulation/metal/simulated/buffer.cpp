#include "metal/simulated/buffer.h"

#include <new>
#include <string>

#include "metal/objc/faults.h"

namespace simulated {

using objc::method;

namespace {

// Why no buffer can be made with these options; empty if one can.
std::string refusal_of(std::size_t length, std::size_t options) {
  if (length == 0) return "the length must not be 0";
  if (length > settings().max_buffer)
    return "the length " + std::to_string(length) + " must not exceed " + std::to_string(settings().max_buffer);
  if (const auto mode = options >> 4U & 15U; mode != 0 && mode != 2)
    return "a storage mode that is not shared or private";
  if ((options & 15U) > 1) return "an unknown CPU cache mode";
  if ((options >> 8U & 3U) > 2 || options >> 10U != 0) return "unknown resource options";
  return "";
}

bool is_refused(const char* selector, std::size_t length, std::size_t options) {
  const std::string refusal = refusal_of(length, options);
  if (refusal.empty()) return false;
  objc::report_fault(std::string("-[MTLDevice ") + selector + "]: " + refusal);
  return true;
}

}  // namespace

Buffer* Buffer::make(Device& device, std::size_t length, std::size_t options, const char* selector) {
  if (is_refused(selector, length, options)) return nullptr;
  if (!device.take_memory(length)) return nullptr;
  try {
    return objc::create<Buffer>(device, length, options, std::make_unique<GuardedMemory>(length));
  } catch (const std::bad_alloc&) {
    device.give_memory(length);
    return nullptr;
  }
}

Buffer* Buffer::around(Device& device, void* pointer, std::size_t length, std::size_t options,
                       const void* deallocator) {
  const char* const selector = "newBufferWithBytesNoCopy:length:options:deallocator:";
  if (is_refused(selector, length, options)) return nullptr;
  if (static_cast<StorageMode>(options >> 4U & 15U) == StorageMode::private_to_device) {
    objc::report_fault(std::string("-[MTLDevice ") + selector + "]: the storage mode must not be private");
    return nullptr;
  }
  if (deallocator != nullptr) {
    objc::report_fault(std::string("-[MTLDevice ") + selector + "]: there are no blocks here");
    return nullptr;
  }
  if (pointer == nullptr || reinterpret_cast<std::uintptr_t>(pointer) % page_bytes != 0 || length % page_bytes != 0) {
    objc::report_fault(std::string("-[MTLDevice ") + selector + "]: the memory is not whole pages");
    return nullptr;
  }
  if (!device.take_memory(length)) return nullptr;
  return objc::create<Buffer>(device, pointer, length, options);
}

Buffer::Buffer(Device& device, std::size_t length, std::size_t options, std::unique_ptr<GuardedMemory> memory)
    : Object(own_class()), device_(&device), length_(length), options_(options), memory_(std::move(memory)) {
  gpu_ = memory_->begin();
  if (mode() != StorageMode::private_to_device) cpu_ = gpu_;
}

Buffer::Buffer(Device& device, void* pointer, std::size_t length, std::size_t options)
    : Object(own_class()), device_(&device), length_(length), options_(options) {
  gpu_ = cpu_ = static_cast<std::byte*>(pointer);
}

Buffer::~Buffer() { device_->give_memory(length_); }

const objc::Class& Buffer::own_class() {
  static const auto& one = *new objc::Class("MTLBuffer", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                                            {method<&Buffer::contents>("contents")});
  return one;
}

}  // namespace simulated
