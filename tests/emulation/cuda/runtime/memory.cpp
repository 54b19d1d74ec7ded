// Memory of devices, copies, memory pools.
#include <cstdlib>
#include <cstring>

#include "cuda/runtime/state.h"

using namespace emulation;

namespace {

cudaError_t take(Device& device, void** pointer, std::size_t bytes) {
  if (const cudaError_t error = health(device); error != cudaSuccess) return error;
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::scoped_lock lock(device.mutex);
  if (bytes > device.total - device.used) return cudaErrorMemoryAllocation;
  // Allocates exactly this size, so that AddressSanitizer finds an access to the byte behind it.
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes) != 0) return cudaErrorMemoryAllocation;
  std::memset(memory, 0xff, bytes);  // NaN: nothing may be read before it is written
  device.allocations[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  device.used += bytes;
  log_made("memory");
  *pointer = memory;
  return cudaSuccess;
}

}  // namespace

cudaError_t emulation::free_now(Device& device, void* pointer) {
  const std::scoped_lock lock(device.mutex);
  const auto found = device.allocations.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == device.allocations.end()) return cudaErrorInvalidValue;
  device.used -= found->second;
  device.allocations.erase(found);
  log_ended("memory");
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (const cudaError_t error = begin_device_call("cudaMemGetInfo"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  Device& device = current_device();
  const std::scoped_lock lock(device.mutex);
  *free = device.total - device.used;
  *total = device.total;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (const cudaError_t error = begin_unsafe_call("cudaMalloc"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  return noted(take(current_device(), pointer, bytes));
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaMallocAsync"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  cudaError_t error = take(stream->device, pointer, bytes);
  if (error == cudaErrorMemoryAllocation) {
    stream->synchronize();  // what was freed on the stream before is available
    error = take(stream->device, pointer, bytes);
  }
  return noted(error);
}

cudaError_t cudaFree(void* pointer) {
  if (const cudaError_t error = begin_unsafe_call("cudaFree"); error != cudaSuccess) return noted(error);
  if (pointer == nullptr) return noted(health());
  for (const auto& device : devices())
    if (free_now(*device, pointer) == cudaSuccess) return noted(health(*device));
  return noted(cudaErrorInvalidValue);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaFreeAsync"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  Device& device = stream->device;
  if (pointer == nullptr) return noted(health(device));
  {
    const std::scoped_lock lock(device.mutex);
    if (!device.allocations.contains(reinterpret_cast<std::uintptr_t>(pointer))) return noted(cudaErrorInvalidValue);
  }
  stream->add(EmulatedNode::Kind::bookkeeping, [&device, pointer] { free_now(device, pointer); });
  return noted(health(device));
}

namespace {

cudaError_t add_copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(stream->device); error != cudaSuccess) return noted(error);
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr || crosses_host_range(to, bytes) || crosses_host_range(from, bytes))
    return noted(cudaErrorInvalidValue);
  stream->add(EmulatedNode::Kind::transfer, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaMemcpyAsync"); error != cudaSuccess) return noted(error);
  return add_copy(to, from, bytes, stream);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaMemcpyPeerAsync"); error != cudaSuccess) return noted(error);
  for (const int number : {to_device, from_device})
    if (device_of(number) == nullptr) return noted(cudaErrorInvalidDevice);
  for (const int number : {to_device, from_device})
    if (const cudaError_t error = health(*device_of(number)); error != cudaSuccess) return noted(error);
  return add_copy(to, from, bytes, stream);
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaMemsetAsync"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(stream->device); error != cudaSuccess) return noted(error);
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || crosses_host_range(to, bytes)) return noted(cudaErrorInvalidValue);
  stream->add(EmulatedNode::Kind::transfer, [=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}
