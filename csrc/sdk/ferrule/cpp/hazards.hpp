// Finds the kernels of a graph that must wait for earlier ones, for devices that run them side by side.
#ifndef FERRULE_CPP_HAZARDS_HPP
#define FERRULE_CPP_HAZARDS_HPP

#include <ferrule/graph_view.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ferrule::sdk {

// Goes through the launches of a graph in order, and finds where a barrier is needed: before a launch that reads bytes
// written since the last barrier, or writes bytes read or written since then.
class Hazards {
 public:
  // Stands for a node's scratch memory in the lists of values.
  static constexpr uint32_t scratch = UINT32_MAX;

  // The view must outlive it.
  explicit Hazards(const fe_graph_view& view) : view_(view) {
    for (uint32_t i = 0; i < view.storage_count; ++i) {
      const fe_storage& storage = *view.storages[i];
      const bool reuses = storage.kind == FE_STORAGE_OUTPUT && storage.reuses >= 0;
      const uint32_t binding = reuses ? view.storages[storage.reuses]->binding : storage.binding;
      spaces_.push_back(storage.kind == FE_STORAGE_TEMPORARY ? of_workspace : of_bindings + binding);
    }
  }

  // True if a barrier is needed before a launch that reads and writes these values of the view; the launch is then the
  // first one after the barrier.
  bool is_barrier_due(std::span<const uint32_t> reads, std::span<const uint32_t> writes) {
    std::vector<Region> read, written;
    for (const uint32_t value : reads)
      if (value == scratch || view_.storages[view_.values[value]->storage]->kind != FE_STORAGE_SCALAR)
        read.push_back(region_of(value));
    for (const uint32_t value : writes) written.push_back(region_of(value));
    // Comparing each pair of more regions than this costs more than a barrier.
    const bool are_many = read_.size() + written_.size() > 256;
    const bool is_due = are_many || overlap(read, written_) || overlap(written, written_) || overlap(written, read_);
    if (is_due) {
      read_.clear();
      written_.clear();
    }
    read_.insert(read_.end(), read.begin(), read.end());
    written_.insert(written_.end(), written.begin(), written.end());
    return is_due;
  }

 private:
  // A range of bytes in one of the memories that a graph accesses. Bindings follow, in order of their numbers; the core
  // binds disjoint memory to outputs.
  enum Space : uint32_t { of_workspace, of_scratch, of_bindings };
  struct Region {
    uint32_t space;
    uint64_t begin, end;
    bool overlaps(const Region& other) const { return space == other.space && begin < other.end && other.begin < end; }
  };

  Region region_of(uint32_t value) const {
    if (value == scratch) return {of_scratch, 0, UINT64_MAX};
    const uint32_t index = view_.values[value]->storage;
    const fe_storage& storage = *view_.storages[index];
    if (storage.kind == FE_STORAGE_TEMPORARY) return {of_workspace, storage.offset, storage.offset + storage.size};
    return {spaces_[index], 0, UINT64_MAX};
  }
  static bool overlap(const std::vector<Region>& some, const std::vector<Region>& others) {
    return std::any_of(some.begin(), some.end(), [&](const Region& one) {
      return std::any_of(others.begin(), others.end(), [&](const Region& other) { return one.overlaps(other); });
    });
  }

  const fe_graph_view& view_;
  std::vector<uint32_t> spaces_;  // by storage
  std::vector<Region> read_, written_;
};

}  // namespace ferrule::sdk

#endif
