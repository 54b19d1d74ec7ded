// Memory of devices, copies, memory pools.
#include <cstdlib>
#include <cstring>

#include "runtime/state.h"

using namespace emulation;

namespace {

cudaError_t take(Device& device, void** pointer, std::size_t bytes) {
  if (const cudaError_t error = health(device); error != cudaSuccess) return error;
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::scoped_lock lock(device.mutex);
  if (bytes > device.total - device.used) return cudaErrorMemoryAllocation;
  // Of exactly this size, so that AddressSanitizer finds an access to the byte behind it.
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes) != 0) return cudaErrorMemoryAllocation;
  std::memset(memory, 0xff, bytes);  // NaN: nothing may be read before it is written
  device.allocations[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  device.used += bytes;
  log_made("memory");
  *pointer = memory;
  return cudaSuccess;
}

void copy_rows(char* to, std::size_t to_pitch, const char* from, std::size_t from_pitch, std::size_t width,
               std::size_t height) {
  for (std::size_t row = 0; row < height; ++row) std::memcpy(to + row * to_pitch, from + row * from_pitch, width);
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

cudaError_t add_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                     std::size_t height, cudaStream_t stream) {
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(stream->device); error != cudaSuccess) return noted(error);
  if (width == 0 || height == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr || (height > 1 && (to_pitch < width || from_pitch < width)))
    return noted(cudaErrorInvalidValue);
  if (crosses_host_range(to, to_pitch * (height - 1) + width) ||
      crosses_host_range(from, from_pitch * (height - 1) + width))
    return noted(cudaErrorInvalidValue);
  stream->add(EmulatedNode::Kind::transfer, [=] {
    copy_rows(static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height);
  });
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaMemcpyAsync"); error != cudaSuccess) return noted(error);
  return add_copy(to, bytes, from, bytes, bytes, 1, stream);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaMemcpy2DAsync"); error != cudaSuccess) return noted(error);
  return add_copy(to, to_pitch, from, from_pitch, width, height, stream);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaMemcpyPeerAsync"); error != cudaSuccess) return noted(error);
  for (const int number : {to_device, from_device})
    if (device_of(number) == nullptr) return noted(cudaErrorInvalidDevice);
  for (const int number : {to_device, from_device})
    if (const cudaError_t error = health(*device_of(number)); error != cudaSuccess) return noted(error);
  return add_copy(to, bytes, from, bytes, bytes, 1, stream);
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

// ---- pools: freed memory goes back at once, so a pool holds nothing
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (const cudaError_t error = begin_device_call("cudaDeviceGetDefaultMemPool"); error != cudaSuccess)
    return noted(error);
  if (const cudaError_t error = availability(); error != cudaSuccess) return noted(error);
  if (device_of(device) == nullptr) return noted(cudaErrorInvalidDevice);
  if (pool == nullptr) return noted(cudaErrorInvalidValue);
  *pool = &device_of(device)->pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (const cudaError_t error = begin_device_call("cudaMemPoolSetAttribute"); error != cudaSuccess) return noted(error);
  if (pool == nullptr || value == nullptr || attribute != cudaMemPoolAttrReleaseThreshold)
    return noted(cudaErrorInvalidValue);
  const std::scoped_lock lock(device_of(pool->device)->mutex);
  std::memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (const cudaError_t error = begin_device_call("cudaMemPoolGetAttribute"); error != cudaSuccess) return noted(error);
  if (pool == nullptr || value == nullptr) return noted(cudaErrorInvalidValue);
  Device& device = *device_of(pool->device);
  const std::scoped_lock lock(device.mutex);
  std::uint64_t got = 0;
  if (attribute == cudaMemPoolAttrReleaseThreshold)
    got = pool->release_threshold;
  else if (attribute == cudaMemPoolAttrReservedMemCurrent || attribute == cudaMemPoolAttrUsedMemCurrent)
    got = device.used;
  else
    return noted(cudaErrorInvalidValue);
  std::memcpy(value, &got, sizeof got);
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  if (const cudaError_t error = begin_device_call("cudaMemPoolTrimTo"); error != cudaSuccess) return noted(error);
  return noted(pool == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}
