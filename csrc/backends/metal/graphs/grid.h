// Grids over many elements.
#pragma once

#include "graphs/plan.h"

namespace ferrule::metal {

using sdk::quotient_up;

// Sets threads and groups to a grid of at least `count` threads, in threadgroups of `threads`. A kernel numbers its
// threads by (((group.z * groups.y) + group.y) * groups.x + group.x) * threads + thread, and compares with its count.
inline void set_grid(Dispatch& dispatch, uint64_t count, uint32_t threads = 256) {
  constexpr uint32_t limit = 1 << 20;  // of groups along an axis; Metal has 32 bits for threads along one
  dispatch.kernel.threads = threads;
  dispatch.groups = sdk::grid_of(quotient_up(count, uint64_t{threads}), {limit, limit, limit});
}

}  // namespace ferrule::metal
