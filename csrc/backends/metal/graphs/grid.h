// Grids over many elements.
#pragma once

#include <ferrule/cpp/axes.hpp>

#include <algorithm>

#include "graphs/plan.h"

namespace ferrule::metal {

using sdk::quotient_up;

// Sets threads and groups to a grid of at least `count` threads, in threadgroups of `threads`. A kernel numbers its
// threads by (((group.z * groups.y) + group.y) * groups.x + group.x) * threads + thread, and compares with its count.
inline void set_grid(Dispatch& dispatch, uint64_t count, uint32_t threads = 256) {
  constexpr uint64_t limit = uint64_t{1} << 20;  // of groups along an axis; Metal has 32 bits for threads along one
  dispatch.kernel.threads = threads;
  uint64_t groups = std::max<uint64_t>(1, quotient_up(count, uint64_t{threads}));
  for (uint32_t& along : dispatch.groups) {
    // As few groups as cover the rest evenly.
    const uint64_t rest = quotient_up(groups, limit);
    along = static_cast<uint32_t>(quotient_up(groups, rest));
    groups = rest;
  }
  if (groups > 1) throw sdk::Error(FE_UNSUPPORTED, std::to_string(count) + " threads are more than a grid has");
}

}  // namespace ferrule::metal
