// Finds the dispatches that must wait for earlier ones.
#pragma once

#include <ferrule/backend.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "graphs/plan.h"

namespace ferrule::vulkan {

// A range of bytes in one of the memories that a graph accesses.
struct Region {
  uint32_t space;
  uint64_t begin, end;
  bool overlaps(const Region& other) const { return space == other.space && begin < other.end && other.begin < end; }
};

// Goes through the dispatches of a graph in order, and finds where a barrier is needed: before a dispatch that reads
// bytes written since the last barrier, or writes bytes read or written since then.
class Hazards {
 public:
  explicit Hazards(const fe_graph_view& view);

  // True if a barrier is needed before the dispatch; the dispatch is then the first one after the barrier.
  bool is_barrier_due(std::span<const uint32_t> reads, std::span<const uint32_t> writes);

 private:
  Region region_of(uint32_t value) const;

  const fe_graph_view& view_;
  std::vector<uint32_t> spaces_;  // by storage
  std::vector<Region> read_, written_;
};

}  // namespace ferrule::vulkan
