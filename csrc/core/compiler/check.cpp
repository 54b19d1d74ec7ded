#include "core/compiler/passes.h"

namespace ferrule {

void check(const Graph& graph) {
  if (graph.outputs.empty()) fail_argument("a graph without outputs has nothing to compute");
  std::vector<bool> known(graph.values.size(), false);
  for (std::size_t id = 0; id < graph.values.size(); ++id) known[id] = graph.values[id].kind != ValueKind::result;
  for (const Node& node : graph.nodes) {
    for (ValueId input : node.inputs)
      if (input >= known.size() || !known[input])
        fail_argument("{}: its operand %{} is not computed before it", node.op->name, input);
    for (ValueId output : node.outputs) known[output] = true;
  }
  for (ValueId output : graph.outputs)
    if (output >= known.size() || !known[output]) fail_argument("output %{} is not a value of the graph", output);
}

}  // namespace ferrule
