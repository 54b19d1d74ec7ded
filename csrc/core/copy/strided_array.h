// A strided array: the contents of an array, an input or an output.
#pragma once

#include "core/graph/graph.h"
#include "core/memory/storage.h"

#include <memory>

namespace ferrule {

struct StridedArray {
  TensorType type;
  StridedStorage data;
};

// A new contiguous array; without storage if it has no elements.
StridedArray new_array(const std::shared_ptr<Device>& device, const TensorType& type);
// Offset of the first element, in bytes from the beginning of the buffer.
inline uint64_t buffer_offset(const StridedArray& of) {
  return of.data.storage->buffer_offset() + static_cast<uint64_t>(bytes_of(of.type.dtype, of.data.offset));
}
// Whether the owner of borrowed memory may change the elements at any time.
inline bool may_change(const StridedArray& view) {
  return view.data.storage && view.data.storage->is_borrowed_writable();
}

}  // namespace ferrule
