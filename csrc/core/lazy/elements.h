// Single elements of computed arrays in host memory, read and written without recording an op.
#pragma once

#include "core/lazy/array.h"

#include <cstdint>
#include <optional>
#include <span>

namespace ferrule {

// The element at `indices`, one within the bounds of each axis, as an array of rank 0 with memory of its own. Null if
// the array is not computed, or the host cannot read it at once.
ArrayPointer element_of(const Array& array, std::span<const int64_t> indices);
// The number of an array with one element; empty as above.
std::optional<fe_scalar> number_of(const Array& array);
// The array with another element. It takes the memory of the array, whose other elements nobody can read any more; so
// `array` must be the only pointer. Null if somebody else has the memory, or as above; the array is unchanged then.
ArrayPointer with_element(const ArrayPointer& array, std::span<const int64_t> indices, fe_scalar value);

}  // namespace ferrule
