// An op that replaces some elements of its first input writes only these if nothing reads the updated value afterwards;
// its result is then that value with other bytes. After this pass, nodes of one segment may write a value more than
// once. An update of an input may use its memory if the caller donates it.
#include "core/compiler/layout.h"
#include "ops/table.h"

#include <algorithm>
#include <array>

namespace ferrule {
namespace {

// The segment of each node, by number: nodes in sequence on one device are a segment.
std::vector<std::size_t> segments_of(const std::vector<LoweredNode>& nodes) {
  std::vector<std::size_t> segments(nodes.size(), 0);
  for (std::size_t i = 1; i < nodes.size(); ++i)
    segments[i] = segments[i - 1] + (nodes[i].device != nodes[i - 1].device ? 1 : 0);
  return segments;
}

// The last node that reads each value; the number of nodes for an output.
std::vector<std::size_t> last_reads_of(const LoweredGraph& lowered) {
  std::vector<std::size_t> last(lowered.graph.values.size(), 0);
  for (std::size_t i = 0; i < lowered.nodes.size(); ++i)
    for (const Operand& input : lowered.nodes[i].inputs) last[input.root] = i;
  for (const Operand& output : lowered.outputs) last[output.root] = lowered.nodes.size();
  return last;
}

}  // namespace

void write_in_place(LoweredGraph& lowered) {
  const std::array updating{&ops::op_named("update_slice"), &ops::op_named("scatter"),
                            &ops::op_named("masked_scatter")};
  const auto updates = [&](const LoweredNode& node) { return std::ranges::find(updating, node.op) != updating.end(); };
  if (std::none_of(lowered.nodes.begin(), lowered.nodes.end(), updates)) return;
  const std::vector<std::size_t> segments = segments_of(lowered.nodes);
  std::vector<std::size_t> last_reads = last_reads_of(lowered), written(lowered.graph.values.size(), 0);
  std::vector<ValueId> now(lowered.graph.values.size());  // the value that holds the bytes of each
  for (ValueId value = 0; value < now.size(); ++value) now[value] = value;
  for (std::size_t i = 0; i < lowered.nodes.size(); ++i) {
    LoweredNode& node = lowered.nodes[i];
    for (Operand& input : node.inputs) input.root = now[input.root];
    for (ValueId output : node.outputs) written[output] = i;
    if (!updates(node)) continue;
    const Operand& x = node.inputs[0];
    const ValueId result = node.outputs[0];
    const auto reads_x = [&](const Operand& input) { return input.root == x.root; };
    const bool is_read_last = is_whole(x, lowered.graph) && x.type == lowered.graph.type(x.root) &&
                              last_reads[x.root] == i &&
                              std::none_of(node.inputs.begin() + 1, node.inputs.end(), reads_x);
    if (!is_read_last) continue;
    const ValueKind kind = lowered.graph.values[x.root].kind;
    if (kind == ValueKind::input && is_contiguous(x.type.shape, x.strides)) lowered.takes_over[result] = x.root;
    if (kind != ValueKind::result || segments[written[x.root]] != segments[i]) continue;
    now[result] = x.root;
    last_reads[x.root] = last_reads[result];
    written[x.root] = i;
    node.outputs[0] = x.root;
  }
  for (Operand& output : lowered.outputs) output.root = now[output.root];
}

}  // namespace ferrule
