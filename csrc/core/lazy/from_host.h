// Arrays over host memory: borrowed where the device can, copied where it cannot.
#pragma once

#include "core/lazy/array.h"

namespace ferrule {

// The values of fe_host_memory's `copy`.
enum Copy { never = 0, always = 1, if_needed = 2, given_away = 3 };

// What a caller says of memory: checked, with strides in bytes and in elements.
struct OutsideMemory {
  TensorType type;
  Strides byte_strides, strides;
  std::byte* first = nullptr;  // element 0
  std::byte* low = nullptr;    // of the bytes that may be touched
  uint64_t size = 0;
  std::string why_not;  // it cannot be used as it is; empty when it can
  int64_t first_element() const { return elements_in(type.dtype, static_cast<uint64_t>(first - low)); }
};
// Throws Error(invalid_argument) for what is no memory. Of an array without elements only the type is there.
OutsideMemory described(const fe_host_memory& memory);

ArrayPointer array_from_host(const std::shared_ptr<Device>& device, const fe_host_memory& memory);
// One dimension of uint8 over the region.
ArrayPointer array_from_region(const std::shared_ptr<Device>& device, void* pointer, uint64_t size, fe_access access,
                               const std::shared_ptr<void>& owner);
// An array of `type`, C-contiguous, over the bytes of a contiguous array from `byte_offset` on; a copy where the bytes
// are not aligned to the item, or are no bools.
ArrayPointer cut_from(const ArrayPointer& array, uint64_t byte_offset, const TensorType& type);

}  // namespace ferrule
