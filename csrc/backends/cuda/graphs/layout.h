// Shapes and strides in the form that kernels use, and grids over many elements.
#pragma once

#include <ferrule/cpp/axes.hpp>

#include <algorithm>

#include "graphs/plan.h"

namespace ferrule::cuda {

static_assert(max_rank == FE_MAX_RANK);

using sdk::quotient_up;

inline Layout layout_of(const sdk::MergedAxes& axes) {
  Layout layout{};
  axes.write_to(layout);
  layout.is_near = sdk::is_near(axes.shape(), axes.strides()) ? 1 : 0;
  return layout;
}
inline Layout layout_of(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  return layout_of(sdk::MergedAxes(shape, strides));
}
inline Layout layout_of(const sdk::Operand& operand) { return layout_of(operand.shape(), operand.strides()); }

// Blocks of `threads` threads for `count` elements, of which each thread takes `per_thread` or, by a loop over the grid
// (thread_number, thread_count), more.
inline uint64_t blocks_for(uint64_t count, uint64_t threads, uint64_t per_thread, const Capabilities& capabilities) {
  const uint64_t most = uint64_t{capabilities.multiprocessors} * 32;
  return std::max<uint64_t>(1, std::min(most, quotient_up(count, threads * per_thread)));
}

}  // namespace ferrule::cuda
