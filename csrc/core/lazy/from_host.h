// Arrays over host memory: borrowed where the device can, copied where it cannot.
#pragma once

#include "core/lazy/array.h"

namespace ferrule {

ArrayPointer array_from_host(const std::shared_ptr<Device>& device, const fe_host_memory& memory);
// One dimension of uint8 over the region.
ArrayPointer array_from_region(const std::shared_ptr<Device>& device, void* pointer, uint64_t size, fe_access access,
                               const std::shared_ptr<void>& owner);
// An array of `type`, C-contiguous, over the bytes of a contiguous array from `byte_offset` on; a copy where the bytes
// are not aligned to the item, or are no bools.
ArrayPointer cut_from(const ArrayPointer& array, uint64_t byte_offset, const TensorType& type);

}  // namespace ferrule
