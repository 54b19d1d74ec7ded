// Shapes and strides in the form that kernels use.
#pragma once

#include <ferrule/cpp/axes.hpp>

#include "graphs/plan.h"

namespace ferrule::metal {

// The Layout of kernels/interface.metal. Axes of size one are dropped, and contiguous axes are merged.
struct Layout {
  uint32_t rank, unused;
  int64_t shape[FE_MAX_RANK];    // the last axis first
  int64_t strides[FE_MAX_RANK];  // in elements
};

inline Layout layout_of(const sdk::MergedAxes& axes) {
  Layout layout{};
  axes.write_to(layout);
  return layout;
}
inline Layout layout_of(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  return layout_of(sdk::MergedAxes(shape, strides));
}
inline Layout layout_of(const sdk::Operand& operand) { return layout_of(operand.shape(), operand.strides()); }

}  // namespace ferrule::metal
