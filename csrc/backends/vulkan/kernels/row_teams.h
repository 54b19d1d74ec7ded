// Ops on the rows of the last axis. A team of invocations shares each row.
#pragma once

#include <bit>

#include "graphs/layout.h"
#include "planning.h"

namespace ferrule::vulkan {

// The number of invocations that share a row. It depends on the width alone, so that a row is added up in the same
// order in any batch.
inline uint32_t team_of(int64_t width, const Capabilities& capabilities) {
  const auto wanted = std::bit_ceil(static_cast<uint64_t>(width + 7) / 8);
  const uint32_t most = std::min(256u, std::bit_floor(capabilities.max_workgroup));
  return static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, most));
}

// Sets the grid of the plan's one dispatch, and chooses the shader with subgroups if the device has them.
inline void set_team_grid(Plan& plan, int64_t rows, uint32_t team, const Capabilities& capabilities) {
  Dispatch& dispatch = plan.launches.back();
  const uint32_t workgroup = std::max(team, std::min(128u, std::bit_floor(capabilities.max_workgroup)));
  if (team > 1 && capabilities.subgroup_size > 1 && workgroup % capabilities.subgroup_size == 0) {
    const auto dot = dispatch.shader.find('.');
    dispatch.shader.insert(dot + 1, "subgroup_");
    dispatch.has_full_subgroups = true;
    plan.support.kernel = dispatch.shader;
  }
  set_grid(dispatch, static_cast<uint64_t>(rows) * team, capabilities, workgroup);
}

// The offsets of the rows of an operand.
inline Layout rows_of(uint32_t value, const sdk::Operand& x) {
  const auto leading = static_cast<size_t>(x.rank() - 1);
  return layout_of(value, x.shape().first(leading), x.strides().first(leading));
}

}  // namespace ferrule::vulkan
