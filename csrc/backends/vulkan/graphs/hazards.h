// Which dispatches must wait for earlier ones.
#pragma once

#include <ferrule/backend.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "graphs/plan.h"

namespace ferrule::vulkan {

// Bytes of one of the memories that a graph touches.
struct Region {
  uint32_t space;
  uint64_t begin, end;
  bool overlaps(const Region& other) const { return space == other.space && begin < other.end && other.begin < end; }
};

// Follows the dispatches of a graph in their order, and finds where a barrier must stand: before a dispatch that reads
// what was written, or writes what was read or written, since the last one.
class Hazards {
 public:
  explicit Hazards(const fe_graph_view& view);

  // True when a barrier must come before the dispatch; the dispatch is then the first behind it.
  bool is_barrier_due(std::span<const uint32_t> reads, std::span<const uint32_t> writes);

 private:
  Region region_of(uint32_t value) const;

  const fe_graph_view& view_;
  std::vector<uint32_t> spaces_;  // of the storages
  std::vector<Region> read_, written_;
};

}  // namespace ferrule::vulkan
