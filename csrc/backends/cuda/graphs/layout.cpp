#include "graphs/layout.h"

#include <cstdlib>

namespace ferrule::cuda {

static_assert(max_rank == FE_MAX_RANK);

bool is_near(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  constexpr int64_t limit = INT32_MAX;
  int64_t farthest = 0, count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return true;
    const int64_t steps = shape[axis] - 1, stride = std::abs(strides[axis]);
    if (shape[axis] > limit / count) return false;
    count *= shape[axis];
    if (stride != 0 && steps > (limit - farthest) / stride) return false;
    farthest += steps * stride;
  }
  return true;
}

Layout layout_of(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  Layout layout{};
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 1) continue;
    const uint32_t last = layout.rank - 1;
    // One step of this axis equals the extent of the later axes, of which the last one kept is the outermost.
    if (layout.rank > 0 && sdk::is_one_axis(strides[axis], layout.strides[last], layout.shape[last])) {
      layout.shape[last] *= shape[axis];
      continue;
    }
    layout.shape[layout.rank] = shape[axis];
    layout.strides[layout.rank++] = strides[axis];
  }
  layout.is_near = is_near(shape, strides) ? 1 : 0;
  return layout;
}

}  // namespace ferrule::cuda
