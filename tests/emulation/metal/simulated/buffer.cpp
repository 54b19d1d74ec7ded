#include "metal/simulated/buffer.h"

#include <cstring>
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
  if ((options >> 4U & 15U) > 2) return "a storage mode that buffers do not have";
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

Buffer* Buffer::around(Device& device, void* pointer, std::size_t length, std::size_t options, void* deallocator) {
  const char* const selector = "newBufferWithBytesNoCopy:length:options:deallocator:";
  if (is_refused(selector, length, options)) return nullptr;
  if (static_cast<StorageMode>(options >> 4U & 15U) == StorageMode::private_to_device) {
    objc::report_fault(std::string("-[MTLDevice ") + selector + "]: the storage mode must not be private");
    return nullptr;
  }
  if (pointer == nullptr || reinterpret_cast<std::uintptr_t>(pointer) % settings().page != 0 ||
      length % settings().page != 0) {
    objc::report_fault(std::string("-[MTLDevice ") + selector + "]: the memory is not whole pages");
    return nullptr;
  }
  if (!device.take_memory(length)) return nullptr;
  return objc::create<Buffer>(device, pointer, length, options, deallocator);
}

Buffer::Buffer(Device& device, std::size_t length, std::size_t options, std::unique_ptr<GuardedMemory> memory)
    : Object(own_class()), device_(&device), length_(length), options_(options), memory_(std::move(memory)) {
  gpu_ = memory_->begin();
  if (mode() == StorageMode::private_to_device) return;
  if (mode() == StorageMode::managed && !device.has_unified_memory()) copy_ = std::make_unique<GuardedMemory>(length);
  cpu_ = copy_ ? copy_->begin() : gpu_;
}

Buffer::Buffer(Device& device, void* pointer, std::size_t length, std::size_t options, void* deallocator)
    : Object(own_class()), device_(&device), length_(length), options_(options), deallocator_(deallocator) {
  gpu_ = cpu_ = static_cast<std::byte*>(pointer);
}

Buffer::~Buffer() {
  device_->give_memory(length_);
  if (deallocator_) deallocator_(static_cast<void*>(cpu_), length_);
}

void Buffer::synchronize() {
  if (copy_) std::memcpy(cpu_, gpu_, length_);
}

void Buffer::modified(Range range) {
  if (mode() != StorageMode::managed)
    objc::report_fault("-[MTLBuffer didModifyRange:]: the storage mode is not managed");
  else if (!has(range.location, range.length))
    objc::report_fault("-[MTLBuffer didModifyRange:]: the range is outside of the buffer");
  else if (copy_)
    std::memcpy(gpu_ + range.location, cpu_ + range.location, range.length);
}

const objc::Class& Buffer::own_class() {
  static const auto& one = *new objc::Class(
      "MTLBuffer", &objc::root_class(), objc::Class::Kind::inner, nullptr,
      {method<&Buffer::contents>("contents"), method<&Buffer::length>("length"),
       method<&Buffer::length>("allocatedSize"), method<&Buffer::storage_mode>("storageMode"),
       method<&Buffer::tracking_mode>("hazardTrackingMode"), method<&Buffer::options>("resourceOptions"),
       method<&Buffer::address>("gpuAddress"), method<&Buffer::modified>("didModifyRange:"),
       method<&Buffer::its_device>("device"), set_label<Buffer>(), get_label<Buffer>()});
  return one;
}

}  // namespace simulated
