#include "graphs/layout.h"

namespace ferrule::vulkan {

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
