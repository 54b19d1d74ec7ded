#include "graphs/layout.h"

namespace ferrule::vulkan {

void set_grid(Dispatch& dispatch, uint64_t count, const Capabilities& capabilities, uint32_t workgroup) {
  workgroup = std::min(workgroup, capabilities.max_workgroup);
  const std::array<uint32_t, 3> size = {workgroup, 1, 1};
  dispatch.constants.resize(std::max(dispatch.constants.size(), size.size()));
  std::copy(size.begin(), size.end(), dispatch.constants.begin());
  dispatch.groups = sdk::grid_of(sdk::quotient_up(count, uint64_t{workgroup}), capabilities.max_groups);
}

}  // namespace ferrule::vulkan
