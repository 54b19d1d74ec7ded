#include "core/compiler/passes.h"
#include "core/compiler/rewrite.h"

namespace ferrule {

Graph remove_dead(const Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  for (ValueId output : graph.outputs) needed[output] = true;
  std::vector<bool> keep(graph.nodes.size(), false);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    for (ValueId output : graph.nodes[i].outputs) keep[i] = keep[i] || needed[output];
    if (keep[i])
      for (ValueId input : graph.nodes[i].inputs) needed[input] = true;
  }
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (keep[i]) rewrite.copy(graph.nodes[i]);
  return rewrite.finish();
}

}  // namespace ferrule
