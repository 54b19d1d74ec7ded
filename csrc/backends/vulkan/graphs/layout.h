// Shapes and strides in the form that shaders use, and grids over many elements.
#pragma once

#include <ferrule/cpp/axes.hpp>

#include <algorithm>

#include "graphs/plan.h"

namespace ferrule::vulkan {

// The Layout of kernels/shader_interface.glsl. Axes of size one are dropped, and contiguous axes are merged.
struct Layout {
  uint32_t value;
  uint32_t rank;
  int64_t shape[FE_MAX_RANK];    // the last axis first
  int64_t strides[FE_MAX_RANK];  // in elements
};

inline Layout layout_of(uint32_t value, const sdk::MergedAxes& axes) {
  Layout layout{.value = value, .rank = 0, .shape = {}, .strides = {}};
  axes.write_to(layout);
  return layout;
}
inline Layout layout_of(uint32_t value, std::span<const int64_t> shape, std::span<const int64_t> strides) {
  return layout_of(value, sdk::MergedAxes(shape, strides));
}
inline Layout layout_of(uint32_t value, const sdk::Operand& operand) {
  return layout_of(value, operand.shape(), operand.strides());
}

// Sets constants 0 to 2 and the groups to a grid of at least `count` invocations, in one-dimensional workgroups.
// Shaders compare `invocation()` with their count. Throws FE_UNSUPPORTED if the device cannot number so many.
void set_grid(Dispatch& dispatch, uint64_t count, const Capabilities& capabilities, uint32_t workgroup = 256);

}  // namespace ferrule::vulkan
