// Ops on the rows of the last axis, each shared by a team of invocations.
#pragma once

#include <bit>

#include "../layout.h"
#include "planning.h"

namespace ferrule::vulkan {

// Invocations that share a row. Of its width alone, so that a row is added up alike in any batch.
inline uint32_t team_of(int64_t width, const Capabilities& capabilities) {
  const auto wanted = std::bit_ceil(static_cast<uint64_t>(width + 7) / 8);
  const uint32_t most = std::min(256u, std::bit_floor(capabilities.max_workgroup));
  return static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, most));
}

inline void set_team_grid(Dispatch& dispatch, int64_t rows, uint32_t team, const Capabilities& capabilities) {
  const uint32_t workgroup = std::max(team, std::min(128u, std::bit_floor(capabilities.max_workgroup)));
  set_grid(dispatch, static_cast<uint64_t>(rows) * team, capabilities, workgroup);
}

// Where the rows of an operand begin.
inline Layout rows_of(uint32_t value, const sdk::Operand& x) {
  const auto leading = static_cast<size_t>(x.rank() - 1);
  return layout_of(value, x.shape().first(leading), x.strides().first(leading));
}

}  // namespace ferrule::vulkan
