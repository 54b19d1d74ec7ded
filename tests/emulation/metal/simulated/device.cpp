#include "metal/simulated/device.h"

#include <algorithm>
#include <cstring>

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
    : Object(own_class()), number_(number), title_(settings().names[std::min(number, settings().names.size() - 1)]) {}

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

Object* Device::new_queue() {
  return fails("newCommandQueue") || is_removed() ? nullptr : create<CommandQueue>(*this, 64);
}

Object* Device::new_queue_of(std::size_t most_command_buffers) {
  if (fails("newCommandQueueWithMaxCommandBufferCount:") || is_removed()) return nullptr;
  if (most_command_buffers == 0) {
    objc::report_fault("-[MTLDevice newCommandQueueWithMaxCommandBufferCount:]: the count must not be 0");
    return nullptr;
  }
  return create<CommandQueue>(*this, most_command_buffers);
}

Object* Device::new_buffer(std::size_t length, std::size_t options) {
  if (fails("newBufferWithLength:options:") || is_removed()) return nullptr;
  return Buffer::make(*this, length, options, "newBufferWithLength:options:");
}

Object* Device::new_buffer_of(const void* bytes, std::size_t length, std::size_t options) {
  const char* const selector = "newBufferWithBytes:length:options:";
  if (fails(selector) || is_removed()) return nullptr;
  if (bytes == nullptr) {
    objc::report_fault("-[MTLDevice newBufferWithBytes:length:options:]: the pointer must not be null");
    return nullptr;
  }
  Buffer* const made = Buffer::make(*this, length, options, selector);
  if (made == nullptr) return nullptr;
  std::memcpy(made->gpu(), bytes, length);
  if (made->cpu() != nullptr && made->cpu() != made->gpu()) std::memcpy(made->cpu(), bytes, length);
  return made;
}

Object* Device::new_buffer_around(void* pointer, std::size_t length, std::size_t options, void* deallocator) {
  if (fails("newBufferWithBytesNoCopy:length:options:deallocator:") || is_removed()) return nullptr;
  return Buffer::around(*this, pointer, length, options, deallocator);
}

Object* Device::new_library(Object* source, Object* options, Object** error) {
  return Library::compile(*this, source, options, error);
}

Object* Device::new_pipeline(Object* function, Object** error) {
  const char* const selector = "newComputePipelineStateWithFunction:error:";
  const Owned<PipelineDescriptor> descriptor = Owned<PipelineDescriptor>::adopt(create<PipelineDescriptor>());
  descriptor->set_function(function);
  return PipelineState::make(*this, *descriptor, 0, error, selector);
}

Object* Device::new_described_pipeline(Object* descriptor, std::size_t options, Object** reflection, Object** error) {
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

Object* Device::new_shared_event() {
  return fails("newSharedEvent") || is_removed() ? nullptr : create<SharedEvent>(*this);
}

Object* Device::new_event() { return fails("newEvent") || is_removed() ? nullptr : create<Event>(*this); }

Object* Device::new_fence() { return fails("newFence") || is_removed() ? nullptr : create<Fence>(*this); }

const objc::Class& Device::own_class() {
  static const auto& one = *new objc::Class(
      "MTLDevice", &objc::root_class(), objc::Class::Kind::ageless, nullptr,
      {method<&Device::name>("name"),
       method<&Device::registry_id>("registryID"),
       method<&Device::is_low_power>("isLowPower"),
       method<&Device::is_headless>("isHeadless"),
       method<&Device::is_removable>("isRemovable"),
       method<&Device::has_unified_memory>("hasUnifiedMemory"),
       method<&Device::recommended_working_set>("recommendedMaxWorkingSetSize"),
       method<&Device::allocated>("currentAllocatedSize"),
       method<&Device::max_buffer>("maxBufferLength"),
       method<&Device::max_threadgroup_memory>("maxThreadgroupMemoryLength"),
       method<&Device::max_threads>("maxThreadsPerThreadgroup"),
       method<&Device::supports>("supportsFamily:"),
       method<&Device::new_queue>("newCommandQueue"),
       method<&Device::new_queue_of>("newCommandQueueWithMaxCommandBufferCount:"),
       method<&Device::new_buffer>("newBufferWithLength:options:"),
       method<&Device::new_buffer_of>("newBufferWithBytes:length:options:"),
       method<&Device::new_buffer_around>("newBufferWithBytesNoCopy:length:options:deallocator:"),
       method<&Device::new_library>("newLibraryWithSource:options:error:"),
       method<&Device::new_pipeline>("newComputePipelineStateWithFunction:error:"),
       method<&Device::new_described_pipeline>("newComputePipelineStateWithDescriptor:options:reflection:error:"),
       method<&Device::new_archive>("newBinaryArchiveWithDescriptor:error:"),
       method<&Device::new_shared_event>("newSharedEvent"),
       method<&Device::new_event>("newEvent"),
       method<&Device::new_fence>("newFence")});
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
