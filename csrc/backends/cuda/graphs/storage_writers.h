// Which node of a graph view writes each storage. A plan may then read the operands of that node in place of its
// result.
#pragma once

#include <ferrule/graph_view.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace ferrule::cuda {

class StorageWriters {
 public:
  explicit StorageWriters(const fe_graph_view& view) : nodes_(view.storage_count, none) {
    for (uint32_t i = 0; i < view.node_count; ++i)
      for (uint32_t k = 0; k < view.nodes[i]->output_count; ++k) {
        uint32_t& node = nodes_[view.values[view.nodes[i]->outputs[k]]->storage];
        node = node == none ? i : several;
      }
  }
  // Nothing if no node writes the storage, or more than one.
  std::optional<uint32_t> of(uint32_t storage) const {
    return nodes_[storage] < several ? std::optional(nodes_[storage]) : std::nullopt;
  }

 private:
  static constexpr uint32_t none = UINT32_MAX, several = UINT32_MAX - 1;
  std::vector<uint32_t> nodes_;
};

}  // namespace ferrule::cuda
