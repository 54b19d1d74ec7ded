// Device memory and queues that other libraries know, too, as DLPack names them.
#pragma once

#include "core/lazy/array.h"

namespace ferrule {

struct NativeDevice {
  int32_t type = 0;  // DLDeviceType
  int32_t id = 0;
  bool operator==(const NativeDevice&) const = default;
};

// Opens the device. Throws Error(unsupported) where others do not know its memory, and for host memory, which all know.
NativeDevice native_device(Device& device);
// What its computing queue is to others; null where it is nothing to them.
void* native_stream(Device& device);

// Who waits before another library may read an array.
enum class NativeWait : int32_t { none = 0, host = 1, stream = 2 };
struct NativeArray {
  NativeDevice device;
  void* pointer = nullptr;
  uint64_t offset = 0;  // bytes from there to element 0
};
// Of an array, which is computed first. What `stream` is given from now on comes after what writes the array; where the
// device cannot do that, the host waits.
NativeArray native_array(const ArrayPointer& array, NativeWait wait, void* stream);

// Over another library's memory of the device; `memory.pointer` is an address there. What that library's stream wrote
// is there for what our computing queue is given from now on: the library has seen to that.
ArrayPointer array_from_native(const std::shared_ptr<Device>& device, const fe_host_memory& memory, NativeDevice of);

}  // namespace ferrule
