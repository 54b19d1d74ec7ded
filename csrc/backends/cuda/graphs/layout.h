// Shapes and strides in the form that kernels use.
#pragma once

#include "graphs/plan.h"

namespace ferrule::cuda {

Layout layout_of(std::span<const int64_t> shape, std::span<const int64_t> strides);
inline Layout layout_of(const sdk::Operand& operand) { return layout_of(operand.shape(), operand.strides()); }

// Whether the numbers and the offsets of all elements fit in 31 bits.
bool is_near(std::span<const int64_t> shape, std::span<const int64_t> strides);

}  // namespace ferrule::cuda
