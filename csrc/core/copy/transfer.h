// Copies of strided arrays between devices, and to and from host memory.
#pragma once

#include "core/cancel.h"
#include "core/copy/strided_array.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace ferrule {

// A contiguous copy of the array on another (or the same) device.
StridedArray copy_to(const StridedArray& from, const std::shared_ptr<Device>& device);
// A copy on the same device. Axes of stride 0 keep that stride: repeated elements are copied once.
StridedArray copy_without_repeats(const StridedArray& from);

// Copies the elements, C-contiguous, to host memory. Waits for the work that writes them and throws its error.
void read_to_host(const StridedArray& from, void* to, uint64_t size, const Cancel& cancel = {});
// Writes host memory to the array's storage, from its offset on. The host memory is read before this returns.
void write_from_host(const StridedArray& to, const void* from, uint64_t size);
// Writes strided host memory that begins at `first` to the array's storage. `change`, if any, modifies the gathered
// bytes.
void write_gathered(const StridedArray& to, const std::byte* first, const Dims& byte_strides,
                    const std::function<void(std::span<std::byte>)>& change);

}  // namespace ferrule
