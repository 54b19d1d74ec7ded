// Shapes and strides in the form that kernels use.
#pragma once

#include "graphs/plan.h"

namespace ferrule::metal {

// The Layout of kernels/interface.metal. Axes of size one are dropped, and contiguous axes are merged.
struct Layout {
  uint32_t rank, unused;
  int64_t shape[FE_MAX_RANK];    // the last axis first
  int64_t strides[FE_MAX_RANK];  // in elements
};

inline Layout layout_of(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  Layout layout{};
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 1) continue;
    const uint32_t last = layout.rank - 1;
    if (layout.rank > 0 && sdk::is_one_axis(strides[axis], layout.strides[last], layout.shape[last])) {
      layout.shape[last] *= shape[axis];
      continue;
    }
    layout.shape[layout.rank] = shape[axis];
    layout.strides[layout.rank++] = strides[axis];
  }
  return layout;
}
inline Layout layout_of(const sdk::Operand& operand) { return layout_of(operand.shape(), operand.strides()); }

}  // namespace ferrule::metal
