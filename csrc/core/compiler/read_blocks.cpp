#include "core/compiler/passes.h"
#include "core/compiler/rewrite.h"
#include "ops/table.h"

#include <algorithm>
#include <vector>

namespace ferrule {
namespace {

// Finds products with decoded blocks, x @ w.astype(float32).T.
class BlockReader {
 public:
  explicit BlockReader(const Graph& graph) : graph_(graph), node_of_(graph.values.size(), nullptr) {
    for (const Node& node : graph.nodes)
      for (ValueId output : node.outputs) node_of_[output] = &node;
  }

  // The blocks that the second factor of a product is decoded from; the same value if it is not.
  ValueId blocks_of(const Node& product) const {
    const ValueId factor = product.inputs[1];
    const Node* const transposition = maker(factor, "permute_dims");
    if (transposition == nullptr || !swaps_last_axes(*transposition)) return factor;
    const ValueId decoded = transposition->inputs[0];
    const Node* const cast = maker(decoded, "astype");
    // Weights that are rounded to a half are not the same numbers.
    if (cast == nullptr || graph_.type(decoded).dtype != DType::float32) return factor;
    const ValueId blocks = cast->inputs[0];
    const bool same_device = cast->device == product.device && transposition->device == product.device;
    return same_device && is_block(graph_.type(blocks).dtype) ? blocks : factor;
  }

 private:
  const Node* maker(ValueId value, std::string_view op) const {
    const Node* const node = node_of_[value];
    return node != nullptr && node->op->name == op ? node : nullptr;
  }
  bool swaps_last_axes(const Node& transposition) const {
    const ops::AttributeReader attributes(*transposition.op, *transposition.attributes);
    std::vector<int64_t> axes = attributes.integers("axes");
    if (axes.size() < 2) return false;
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != static_cast<int64_t>(i)) return false;
    return true;
  }

  const Graph& graph_;
  std::vector<const Node*> node_of_;
};

}  // namespace

Graph read_blocks(Graph graph) {
  const ops::Row &matmul = ops::op_named("matmul"), &linear = ops::op_named("linear");
  const auto stores_blocks = [](const ValueInfo& value) { return is_block(value.type.dtype); };
  if (std::none_of(graph.values.begin(), graph.values.end(), stores_blocks)) return graph;
  const BlockReader reader(graph);
  Rewrite rewrite(graph);
  for (const Node& node : graph.nodes) {
    const ValueId blocks = node.op == &matmul ? reader.blocks_of(node) : 0;
    if (node.op != &matmul || blocks == node.inputs[1]) {
      rewrite.copy(node);
      continue;
    }
    Node product = node;
    product.op = &linear;
    product.inputs[1] = blocks;
    product.attributes = std::make_shared<const ops::Attributes>(ops::complete_attributes(linear, {}));
    rewrite.copy(product);
  }
  return remove_dead(rewrite.finish());
}

}  // namespace ferrule
