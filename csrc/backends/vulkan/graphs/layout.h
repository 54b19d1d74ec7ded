// Shapes and strides as shaders see them, and grids over many elements.
#pragma once

#include <algorithm>

#include "graphs/plan.h"

namespace ferrule::vulkan {

// kernels/shader_interface.glsl's Layout. Axes of size one are left out, and those that continue each other are one.
struct Layout {
  uint32_t value;
  uint32_t rank;
  int64_t shape[FE_MAX_RANK];    // the last axis first
  int64_t strides[FE_MAX_RANK];  // in elements
};

Layout layout_of(uint32_t value, std::span<const int64_t> shape, std::span<const int64_t> strides);
inline Layout layout_of(uint32_t value, const sdk::Operand& operand) {
  return layout_of(value, operand.shape(), operand.strides());
}

// A grid of at least `count` invocations, in workgroups of one dimension: sets constants 0 to 2 and the groups. Shaders
// compare `invocation()` with their count. Throws FE_UNSUPPORTED beyond what the device can number.
void set_grid(Dispatch& dispatch, uint64_t count, const Capabilities& capabilities, uint32_t workgroup = 256);

}  // namespace ferrule::vulkan
