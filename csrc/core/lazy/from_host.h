// Arrays over host memory: borrowed if the device can, else copied.
#pragma once

#include "core/lazy/array.h"

namespace ferrule {

// Values of `copy` of fe_host_memory.
enum Copy { never = 0, always = 1, if_needed = 2, transferred = 3 };

// Memory that a caller described: checked, with strides in bytes and in elements.
struct OutsideMemory {
  TensorType type;
  Strides byte_strides, strides;
  std::byte* first = nullptr;  // element 0
  std::byte* low = nullptr;    // lowest byte that may be accessed
  uint64_t size = 0;
  std::string why_not;  // reason that it cannot be used as it is; empty if it can
  int64_t first_element() const { return elements_in(type.dtype, static_cast<uint64_t>(first - low)); }
};
// Throws Error(invalid_argument) for an invalid description. Sets only `type` for an array without elements.
OutsideMemory describe(const fe_host_memory& memory);

ArrayPointer array_from_host(const std::shared_ptr<Device>& device, const fe_host_memory& memory);
// A one-dimensional array of uint8 over the region.
ArrayPointer array_from_region(const std::shared_ptr<Device>& device, void* pointer, uint64_t size, fe_access access,
                               const std::shared_ptr<void>& owner);
// A C-contiguous array of `type` over the bytes of a contiguous array from `byte_offset` on; a copy if the bytes are
// not aligned to the item or are no valid bools.
ArrayPointer cut_from(const ArrayPointer& array, uint64_t byte_offset, const TensorType& type);

}  // namespace ferrule
