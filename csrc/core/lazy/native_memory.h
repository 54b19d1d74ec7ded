// Device memory and queues that other libraries can use, identified as in DLPack.
#pragma once

#include "core/lazy/array.h"

namespace ferrule {

struct NativeDevice {
  int32_t type = 0;  // DLDeviceType
  int32_t id = 0;
  bool operator==(const NativeDevice&) const = default;
};

// Opens the device. Throws Error(unsupported) for host memory, and if other libraries do not know the device's memory.
NativeDevice native_device(Device& device);
// The native handle of the compute queue; null if it has none.
void* native_stream(Device& device);

// The side that waits before another library may read an array.
enum class NativeWait : int32_t { none = 0, host = 1, stream = 2 };
struct NativeArray {
  NativeDevice device;
  void* pointer = nullptr;
  uint64_t offset = 0;  // in bytes, from `pointer` to element 0
};
// The memory of an array, which is computed first. Later work of `stream` comes after the work that writes the array;
// if the device does not support that, the host waits.
NativeArray native_array(const ArrayPointer& array, NativeWait wait, void* stream);

// An array over another library's memory on the device; `memory.pointer` is an address there. The library has ensured
// that later work of the compute queue sees what its stream wrote.
ArrayPointer array_from_native(const std::shared_ptr<Device>& device, const fe_host_memory& memory, NativeDevice of);

}  // namespace ferrule
