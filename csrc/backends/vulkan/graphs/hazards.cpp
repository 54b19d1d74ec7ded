#include "graphs/hazards.h"

#include <algorithm>

namespace ferrule::vulkan {
namespace {

// Bindings follow, in order of their numbers; the core binds disjoint memory to outputs.
enum Space : uint32_t { workspace, scratch, bindings };

bool overlap(const std::vector<Region>& some, const std::vector<Region>& others) {
  return std::any_of(some.begin(), some.end(), [&](const Region& one) {
    return std::any_of(others.begin(), others.end(), [&](const Region& other) { return one.overlaps(other); });
  });
}

}  // namespace

Hazards::Hazards(const fe_graph_view& view) : view_(view) {
  for (uint32_t i = 0; i < view.storage_count; ++i) {
    const fe_storage& storage = *view.storages[i];
    const bool reuses = storage.kind == FE_STORAGE_OUTPUT && storage.reuses >= 0;
    const uint32_t binding = reuses ? view.storages[storage.reuses]->binding : storage.binding;
    spaces_.push_back(storage.kind == FE_STORAGE_TEMPORARY ? workspace : bindings + binding);
  }
}

Region Hazards::region_of(uint32_t value) const {
  if (value == scratch_value) return {scratch, 0, UINT64_MAX};
  const uint32_t index = view_.values[value]->storage;
  const fe_storage& storage = *view_.storages[index];
  if (storage.kind == FE_STORAGE_TEMPORARY) return {workspace, storage.offset, storage.offset + storage.size};
  return {spaces_[index], 0, UINT64_MAX};
}

bool Hazards::is_barrier_due(std::span<const uint32_t> reads, std::span<const uint32_t> writes) {
  std::vector<Region> read, written;
  for (const uint32_t value : reads)
    if (value == scratch_value || view_.storages[view_.values[value]->storage]->kind != FE_STORAGE_SCALAR)
      read.push_back(region_of(value));
  for (const uint32_t value : writes) written.push_back(region_of(value));
  // With more regions than this, comparing each pair costs more than a barrier.
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

}  // namespace ferrule::vulkan
