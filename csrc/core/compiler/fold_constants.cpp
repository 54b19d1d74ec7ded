#include "core/compiler/passes.h"
#include "core/compiler/rewrite.h"

#include <algorithm>

namespace ferrule {
namespace {

// Size limit of a folded result; larger ones are computed in each execution.
constexpr int64_t max_bytes = int64_t{64} << 20;

}  // namespace

Graph fold_constants(const Graph& graph, const CompileOptions& options) {
  if (!options.evaluate || graph.constants.empty()) return remove_dead(graph);
  std::vector<bool> constant(graph.values.size(), false), computed(graph.values.size(), false);
  for (ValueId id : graph.constants) constant[id] = true;
  for (const Node& node : graph.nodes) {
    bool all = !node.inputs.empty() && (node.device == nullptr || node.device == options.device);
    for (ValueId input : node.inputs) all = all && constant[input];
    // Weights of a block dtype stay in blocks, which take less memory.
    const bool reads_blocks = !node.inputs.empty() && is_block(graph.type(node.inputs[0]).dtype);
    if (reads_blocks && node.op->kind != ops::Kind::view) all = false;
    for (ValueId output : node.outputs) all = all && byte_count(graph.type(output)) <= max_bytes;
    if (!all) continue;
    for (ValueId output : node.outputs) {
      constant[output] = true;
      // A view of a constant is only strides; a view of a computed value is computed with it.
      computed[output] = node.op->kind != ops::Kind::view || computed[node.inputs[0]];
    }
  }
  // The computed values that the rest of the graph uses.
  std::vector<bool> wanted(graph.values.size(), false);
  for (const Node& node : graph.nodes)
    for (ValueId input : node.inputs)
      if (computed[input] && !constant[node.outputs[0]]) wanted[input] = true;
  for (ValueId output : graph.outputs)
    if (computed[output]) wanted[output] = true;

  Graph constants = graph;
  constants.outputs.clear();
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (wanted[id]) constants.outputs.push_back(id);
  if (constants.outputs.empty()) return remove_dead(graph);
  const std::vector<ValueId> folded = constants.outputs;
  // Keep only the nodes that these need; none of them reads an input.
  constants = remove_dead(constants);
  constants.inputs.clear();
  constants.input_info.clear();
  const std::vector<GraphConstant> results = options.evaluate(constants);

  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < folded.size(); ++i)
    rewrite.map(folded[i], rewrite.graph().add_constant("folded", graph.type(folded[i]), results[i].data));
  const auto is_wanted = [&](ValueId value) { return wanted[value]; };
  for (const Node& node : graph.nodes)
    if (std::none_of(node.outputs.begin(), node.outputs.end(), is_wanted)) rewrite.copy(node);
  return remove_dead(rewrite.finish());
}

}  // namespace ferrule
