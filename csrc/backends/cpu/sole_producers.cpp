#include "sole_producers.h"

namespace ferrule::cpu {
namespace {

// The most nodes between a result and its reader, so that the time is linear in the number of nodes.
constexpr uint32_t farthest = 64;

// The uses of one storage of the graph.
struct Uses {
  uint32_t reads = 0, writes = 0;
  uint32_t writer = 0;  // the last node that writes it
};

bool overlap(const fe_graph_view& view, uint32_t a, uint32_t b) {
  if (a == b) return true;
  const fe_storage &x = *view.storages[a], &y = *view.storages[b];
  if (x.kind == FE_STORAGE_TEMPORARY && y.kind == FE_STORAGE_TEMPORARY)
    return x.offset < y.offset + y.size && y.offset < x.offset + x.size;
  const auto reuses = [&](const fe_storage& output, uint32_t input) {
    return output.kind == FE_STORAGE_OUTPUT && output.reuses == static_cast<int32_t>(input);
  };
  return reuses(x, b) || reuses(y, a);
}

// Whether a node from `first` to `last` writes to memory that `reader` reads.
bool is_overwritten(const fe_graph_view& view, const fe_node& reader, uint32_t first, uint32_t last) {
  for (uint32_t n = first; n <= last; ++n)
    for (uint32_t o = 0; o < view.nodes[n]->output_count; ++o)
      for (uint32_t i = 0; i < reader.input_count; ++i)
        if (overlap(view, view.values[view.nodes[n]->outputs[o]]->storage, view.values[reader.inputs[i]]->storage))
          return true;
  return false;
}

}  // namespace

std::vector<std::optional<uint32_t>> sole_producers(const fe_graph_view& view) {
  std::vector<std::optional<uint32_t>> producers(view.node_count);
  if (view.node_count < 2) return producers;
  std::vector<Uses> uses(view.storage_count);
  for (uint32_t n = 0; n < view.node_count; ++n) {
    const fe_node& node = *view.nodes[n];
    for (uint32_t i = 0; i < node.input_count; ++i) ++uses[view.values[node.inputs[i]]->storage].reads;
    for (uint32_t i = 0; i < node.output_count; ++i) {
      Uses& use = uses[view.values[node.outputs[i]]->storage];
      ++use.writes;
      use.writer = n;
    }
  }
  for (uint32_t n = 0; n < view.node_count; ++n) {
    const fe_node& node = *view.nodes[n];
    if (node.input_count == 0) continue;
    const fe_value& read = *view.values[node.inputs[0]];
    const Uses& use = uses[read.storage];
    if (view.storages[read.storage]->kind != FE_STORAGE_TEMPORARY || use.reads != 1 || use.writes != 1) continue;
    if (use.writer >= n || n - use.writer > farthest) continue;
    const fe_node& producer = *view.nodes[use.writer];
    if (producer.output_count != 1) continue;
    const fe_value& written = *view.values[producer.outputs[0]];
    const sdk::Operand whole(view, producer.outputs[0]), given(view, node.inputs[0]);
    const bool is_whole = read.dtype == written.dtype && read.offset == written.offset && read.offset_slot < 0 &&
                          written.offset_slot < 0 && given.is_contiguous() && given.count() == whole.count();
    if (is_whole && !is_overwritten(view, producer, use.writer + 1, n)) producers[n] = use.writer;
  }
  return producers;
}

}  // namespace ferrule::cpu
