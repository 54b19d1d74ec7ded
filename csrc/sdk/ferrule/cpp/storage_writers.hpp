// Finds the nodes of a graph view that write its storages, and those that are needed: a plan may read the operands of
// an earlier node in place of its result.
#ifndef FERRULE_CPP_STORAGE_WRITERS_HPP
#define FERRULE_CPP_STORAGE_WRITERS_HPP

#include <ferrule/graph_view.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ferrule::sdk {

class StorageWriters {
 public:
  explicit StorageWriters(const fe_graph_view& view) : nodes_(view.storage_count, none) {
    for (uint32_t i = 0; i < view.node_count; ++i)
      for (uint32_t k = 0; k < view.nodes[i]->output_count; ++k) {
        uint32_t& node = nodes_[view.values[view.nodes[i]->outputs[k]]->storage];
        node = node == none ? i : several;
      }
  }
  // The only node that writes the storage; nullopt if none or more than one does.
  std::optional<uint32_t> of(uint32_t storage) const {
    return nodes_[storage] < several ? std::optional(nodes_[storage]) : std::nullopt;
  }

 private:
  static constexpr uint32_t none = UINT32_MAX, several = UINT32_MAX - 1;
  std::vector<uint32_t> nodes_;
};

// Whether nothing writes the memory of a value while the graph runs.
inline bool stays(const fe_graph_view& view, uint32_t value) {
  const uint32_t index = view.values[value]->storage;
  const fe_storage& storage = *view.storages[index];
  if ((storage.kind != FE_STORAGE_INPUT && storage.kind != FE_STORAGE_CONSTANT) || storage.prepared != 0) return false;
  for (uint32_t i = 0; i < view.storage_count; ++i)
    if (view.storages[i]->kind == FE_STORAGE_OUTPUT && view.storages[i]->reuses == static_cast<int32_t>(index))
      return false;
  return true;
}

// Whether each node has results that another needed node, or the caller, reads. `plans` has one for each node, whose
// `unread` lists the numbers of the inputs that it does not read.
template <class Plan>
std::vector<bool> needed_nodes(const fe_graph_view& view, const std::vector<Plan>& plans) {
  const auto storage_of = [&](uint32_t value) { return view.values[value]->storage; };
  std::vector<bool> needed(view.node_count, true), is_read(view.storage_count, false);
  for (uint32_t i = view.node_count; i-- > 0;) {
    const fe_node& node = *view.nodes[i];
    const auto is_needed = [&](uint32_t value) {
      return view.storages[storage_of(value)]->kind != FE_STORAGE_TEMPORARY || is_read[storage_of(value)];
    };
    needed[i] = std::any_of(node.outputs, node.outputs + node.output_count, is_needed);
    for (uint32_t k = 0; needed[i] && k < node.input_count; ++k)
      if (std::find(plans[i].unread.begin(), plans[i].unread.end(), k) == plans[i].unread.end())
        is_read[storage_of(node.inputs[k])] = true;
  }
  return needed;
}

}  // namespace ferrule::sdk

#endif
