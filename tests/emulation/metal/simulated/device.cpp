#include "metal/simulated/device.h"

#include <algorithm>

#include "metal/objc/faults.h"
#include "metal/simulated/archive.h"
#include "metal/simulated/buffer.h"
#include "metal/simulated/command_queue.h"
#include "metal/simulated/events.h"
#include "metal/simulated/library.h"
#include "metal/simulated/pipeline.h"

namespace simulated {

using objc::create;
using objc::method;

Device::Device(std::size_t number)
    : Object(own_class()), title_(settings().names[std::min(number, settings().names.size() - 1)]) {}

bool Device::supports(long family) const {
  const std::vector<long>& all = settings().families;
  return std::find(all.begin(), all.end(), family) != all.end();
}

bool Device::take_memory(std::size_t bytes) {
  std::size_t used = used_;
  do {
    if (bytes > settings().memory - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return true;
}

Object* Device::new_queue() { return fails("newCommandQueue") || is_removed() ? nullptr : create<CommandQueue>(*this); }

Object* Device::new_buffer(std::size_t length, std::size_t options) {
  if (fails("newBufferWithLength:options:") || is_removed()) return nullptr;
  return Buffer::make(*this, length, options, "newBufferWithLength:options:");
}

Object* Device::new_buffer_around(void* pointer, std::size_t length, std::size_t options, const void* deallocator) {
  if (fails("newBufferWithBytesNoCopy:length:options:deallocator:") || is_removed()) return nullptr;
  return Buffer::around(*this, pointer, length, options, deallocator);
}

Object* Device::new_library(Object* source, Object* options, Object** error) {
  return Library::compile(*this, source, options, error);
}

Object* Device::new_pipeline(Object* descriptor, std::size_t options, Object** reflection, Object** error) {
  const char* const selector = "newComputePipelineStateWithDescriptor:options:reflection:error:";
  if (reflection != nullptr) *reflection = nullptr;
  const auto* const own = objc::checked<PipelineDescriptor>(descriptor, selector);
  if (own == nullptr) {
    if (descriptor == nullptr) objc::report_fault(std::string(selector) + ": the descriptor must not be nil");
    return nullptr;
  }
  return PipelineState::make(*this, *own, options, error, selector);
}

Object* Device::new_archive(Object* descriptor, Object** error) { return Archive::make(*this, descriptor, error); }

Object* Device::new_shared_event() { return fails("newSharedEvent") || is_removed() ? nullptr : create<SharedEvent>(); }

const objc::Class& Device::own_class() {
  static const auto& one = *new objc::Class(
      "MTLDevice", &objc::root_class(), objc::Class::Kind::ageless, nullptr,
      {method<&Device::name>("name"), method<&Device::is_low_power>("isLowPower"),
       method<&Device::is_removable>("isRemovable"), method<&Device::has_unified_memory>("hasUnifiedMemory"),
       method<&Device::recommended_working_set>("recommendedMaxWorkingSetSize"),
       method<&Device::allocated>("currentAllocatedSize"), method<&Device::max_buffer>("maxBufferLength"),
       method<&Device::max_threadgroup_memory>("maxThreadgroupMemoryLength"),
       method<&Device::supports>("supportsFamily:"), method<&Device::new_queue>("newCommandQueue"),
       method<&Device::new_buffer>("newBufferWithLength:options:"),
       method<&Device::new_buffer_around>("newBufferWithBytesNoCopy:length:options:deallocator:"),
       method<&Device::new_library>("newLibraryWithSource:options:error:"),
       method<&Device::new_pipeline>("newComputePipelineStateWithDescriptor:options:reflection:error:"),
       method<&Device::new_archive>("newBinaryArchiveWithDescriptor:error:"),
       method<&Device::new_shared_event>("newSharedEvent")});
  return one;
}

const std::vector<Device*>& devices() {
  static const auto& all = *[] {
    auto* const made = new std::vector<Device*>();
    for (std::size_t number = 0; number < settings().devices; ++number) made->push_back(create<Device>(number));
    return made;
  }();
  return all;
}

}  // namespace simulated
