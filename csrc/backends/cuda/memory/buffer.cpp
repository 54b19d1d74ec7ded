#include "memory/buffer.h"

#include "memory/process_memory.h"

namespace ferrule::cuda {
namespace {

// DLDeviceType of dlpack.h.
constexpr int32_t dl_cuda = 2, dl_cuda_host = 3, dl_cuda_managed = 13;

}  // namespace

Buffer::~Buffer() {
  if (origin_ == Origin::allocated && pointer_ != nullptr) device_->free(pointer_, bytes_);
}

std::unique_ptr<Buffer> Buffer::make(std::shared_ptr<OpenDevice> device, Origin origin) {
  return std::unique_ptr<Buffer>(new Buffer(std::move(device), origin));
}

void Buffer::set(void* pointer, uint64_t address, uint64_t bytes) noexcept {
  pointer_ = pointer;
  address_ = address;
  bytes_ = bytes;
}

std::unique_ptr<Buffer> Buffer::allocate(std::shared_ptr<OpenDevice> device, uint64_t size) {
  auto buffer = make(std::move(device), Origin::allocated);
  void* const pointer = buffer->device_->allocate(size);
  buffer->set(pointer, number_of(pointer), size);
  return buffer;
}

std::unique_ptr<Buffer> Buffer::borrow(const std::shared_ptr<OpenDevice>& device, void* pointer, uint64_t size,
                                       fe_access access) {
  const PhysicalDevice& physical = device->physical();
  const auto use = device->use();
  // Memory that the driver has allocated has no pages that the system's kernel finds, and needs none.
  const bool is_pageable = physical.reads_pageable && !is_pinned(pointer, size);
  auto buffer = make(device, is_pageable ? Origin::pageable : Origin::registered);
  if (is_pageable) {
    if (!has_pages(pointer, size))
      throw sdk::Error(FE_UNSUPPORTED, "it is memory of a device, or behind the end of a file, which " +
                                           device->name() + " cannot use by the host's addresses");
    buffer->set(pointer, number_of(pointer), size);
    return buffer;
  }
  buffer->host_.emplace(*device, pointer, size, access == FE_ACCESS_READ);
  buffer->set(pointer, buffer->host_->address(), size);
  return buffer;
}

std::unique_ptr<Buffer> Buffer::import(const std::shared_ptr<OpenDevice>& device, const fe_native_memory& memory) {
  const int own = device->physical().number;
  const bool is_own = memory.device_type == dl_cuda && memory.device_id == own;
  if (!is_own && memory.device_type != dl_cuda_managed && memory.device_type != dl_cuda_host)
    throw sdk::Error(FE_UNSUPPORTED, "it is memory of DLPack device (" + std::to_string(memory.device_type) + ", " +
                                         std::to_string(memory.device_id) + "), and this device is (2, " +
                                         std::to_string(own) + ")");
  // A wrong pointer would be a fault of a kernel, after which the process cannot use the device any more.
  const auto use = device->use();
  cudaPointerAttributes is{};
  device->check(cudaPointerGetAttributes(&is, memory.pointer), "cudaPointerGetAttributes");
  if (is.devicePointer == nullptr || (is_own && is.device != own))
    throw sdk::Error(FE_INVALID_ARGUMENT, "the pointer is not memory that " + device->name() + " can use");
  const uint64_t address = number_of(is.devicePointer) + memory.offset;
  auto buffer = make(device, Origin::foreign);
  buffer->set(memory.pointer, address, 0);
  return buffer;
}

// Registered memory, too, is told as the device's: those who use it do so in the order of the device's streams.
fe_native_memory Buffer::native() {
  // Consumers ask their runtime what the pointer is, and refuse what was neither allocated nor registered.
  if (origin_ == Origin::pageable)
    throw sdk::Error(FE_UNSUPPORTED, "it is memory of the host that " + device_->name() +
                                         " uses by the host's addresses, and other libraries take for the host's");
  fe_native_memory memory{};
  memory.struct_size = sizeof memory;
  memory.device_type = dl_cuda;
  memory.device_id = device_->physical().number;
  memory.pointer = reinterpret_cast<void*>(address_);
  return memory;
}

}  // namespace ferrule::cuda
