#include "graphs/layout.h"

namespace ferrule::vulkan {

Layout layout_of(uint32_t value, std::span<const int64_t> shape, std::span<const int64_t> strides) {
  Layout layout{.value = value, .rank = 0, .shape = {}, .strides = {}};
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
  return layout;
}

void set_grid(Dispatch& dispatch, uint64_t count, const Capabilities& capabilities, uint32_t workgroup) {
  workgroup = std::min(workgroup, capabilities.max_workgroup);
  const std::array<uint32_t, 3> size = {workgroup, 1, 1};
  dispatch.constants.resize(std::max(dispatch.constants.size(), size.size()));
  std::copy(size.begin(), size.end(), dispatch.constants.begin());
  uint64_t groups = std::max<uint64_t>(1, count / workgroup + (count % workgroup != 0));
  for (size_t axis = 0; axis < dispatch.groups.size(); ++axis) {
    const uint64_t limit = capabilities.max_groups[axis];
    // As few groups as cover the rest evenly: rounded up once for each axis, so each has at most one row too many.
    const uint64_t rows = groups / limit + (groups % limit != 0);
    dispatch.groups[axis] = static_cast<uint32_t>(
        axis + 1 < dispatch.groups.size() ? groups / rows + (groups % rows != 0) : std::min(groups, limit));
    if (axis + 1 == dispatch.groups.size() && groups > limit)
      throw sdk::Error(FE_UNSUPPORTED, std::to_string(count) + " elements are more than the device can number");
    groups = rows;
  }
}

}  // namespace ferrule::vulkan
