#include <cstdlib>
#include <cstring>

#include "runtime/state.h"

using namespace emulation;

namespace {

std::mutex host_mutex;
std::map<std::uintptr_t, std::size_t>& registered() {
  static auto& ranges = *new std::map<std::uintptr_t, std::size_t>();
  return ranges;
}

cudaError_t take(Device& device, void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::scoped_lock lock(device.mutex);
  if (bytes > device.total - device.used) return cudaErrorMemoryAllocation;
  void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(memory, 0xff, bytes);  // NaN: nothing may be read before it is written
  device.allocations[memory] = bytes;
  device.used += bytes;
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
  const auto found = device.allocations.find(pointer);
  if (found == device.allocations.end()) return cudaErrorInvalidValue;
  device.used -= found->second;
  device.allocations.erase(found);
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  Device& device = current_device();
  const std::scoped_lock lock(device.mutex);
  *free = device.total - device.used;
  *total = device.total;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  return noted(take(current_device(), pointer, bytes));
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  return noted(take(stream->device, pointer, bytes));
}

cudaError_t cudaFree(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  for (const auto& device : devices())
    if (free_now(*device, pointer) == cudaSuccess) return health();
  return noted(cudaErrorInvalidValue);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (pointer == nullptr) return cudaSuccess;
  Device& device = stream->device;
  {
    const std::scoped_lock lock(device.mutex);
    if (!device.allocations.contains(pointer)) return noted(cudaErrorInvalidValue);
  }
  stream->add({{}, [&device, pointer] { free_now(device, pointer); }});
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  *pointer = bytes == 0 ? nullptr : std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return noted(bytes != 0 && *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaFreeHost(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  if (pointer == nullptr || bytes == 0 || (flags & ~15U) != 0) return noted(cudaErrorInvalidValue);
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const std::scoped_lock lock(host_mutex);
  // Pages are what is registered.
  const auto next = registered().lower_bound(begin / 4096 * 4096);
  const auto overlaps = [&](const auto& range) {
    return range.first / 4096 * 4096 < begin + bytes && begin / 4096 * 4096 < range.first + range.second;
  };
  if (next != registered().end() && overlaps(*next)) return noted(cudaErrorHostMemoryAlreadyRegistered);
  if (next != registered().begin() && overlaps(*std::prev(next))) return noted(cudaErrorHostMemoryAlreadyRegistered);
  registered()[begin] = bytes;
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  const std::scoped_lock lock(host_mutex);
  return noted(registered().erase(reinterpret_cast<std::uintptr_t>(pointer)) == 1 ? cudaSuccess
                                                                                  : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t stream) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (width == 0 || height == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr || (height > 1 && (to_pitch < width || from_pitch < width)))
    return noted(cudaErrorInvalidValue);
  stream->add({{}, [=] {
                 copy_rows(static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height);
               }});
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr) return noted(cudaErrorInvalidValue);
  stream->add({{}, [=] { std::memset(to, value, bytes); }});
  return cudaSuccess;
}
