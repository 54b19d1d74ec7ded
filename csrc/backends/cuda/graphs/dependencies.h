// The order that launches of a graph must keep. Launches that access disjoint memory, or only read, may run at once.
#pragma once

#include <ferrule/graph_view.h>

#include <cstdint>
#include <vector>

#include "graphs/plan.h"

namespace ferrule::cuda {

// A range of bytes that a launch accesses. Ranges of different spaces never overlap.
struct MemoryAccess {
  uint64_t space = 0, begin = 0, end = 0;
  bool is_written = false;
};

// The memory of a graph's values, as known before it runs: a whole storage for each. Temporaries share the workspace,
// where a later one may have the bytes of an earlier one; an output may have those of the input that it reuses.
class MemoryRanges {
 public:
  explicit MemoryRanges(const fe_graph_view& view);
  std::vector<MemoryAccess> of(const Launch& launch) const;

 private:
  std::vector<MemoryAccess> values_;
};

// Returns, for each launch, the earlier launches that it waits for, without those that these wait for in turn. A launch
// waits for all that write what it accesses, and for all that read what it writes.
std::vector<std::vector<uint32_t>> dependencies_of(const std::vector<std::vector<MemoryAccess>>& launches);

}  // namespace ferrule::cuda
