// A graph whose views have become strides: what devices are shown.
#pragma once

#include "core/compiler/movement.h"
#include "core/graph/graph.h"

#include <unordered_map>

namespace ferrule {

// Strided elements of the value `root`, whose own bytes are contiguous (results) or as bound (inputs, constants).
struct Operand {
  ValueId root = 0;
  TensorType type;
  int64_t offset = 0;      // elements from the root's first
  Strides strides;         // elements
  Movement movement = {};  // what is added to the offset when the graph is computed
  friend bool operator==(const Operand&, const Operand&) = default;
};

struct LoweredNode {
  const ops::Row* op = nullptr;
  std::shared_ptr<const ops::Attributes> attributes;
  std::shared_ptr<const Body> body;
  Device* device = nullptr;
  std::vector<Operand> inputs;
  std::vector<ValueId> outputs;
  std::string kernel, reason;
};

struct LoweredGraph {
  Graph graph;  // its values; nodes are superseded by `nodes`
  std::vector<LoweredNode> nodes;
  std::vector<Operand> outputs;
  // Results that are an input with other bytes, and that input: where the caller gives its memory away, they may have
  // it.
  std::unordered_map<ValueId, ValueId> takes_over;

  ValueId add_value(TensorType type);
  // A node `copy` that makes the operand contiguous, appended to nodes; the operand that reads its result.
  Operand add_copy(const Operand& operand, Device* device, std::string reason);
};

// The operand for all of a value.
Operand whole_value(const Graph& graph, ValueId value);
// The operand under a view op, whose result has this shape. False, and unchanged, when only a copy has it (reshape).
bool apply_view(const ops::Row& op, const ops::Attributes& attributes, const Shape& result, Operand& operand);
// Whether the node is a dynamic_slice whose starts are scalars of the graph: a view that moves.
bool is_moving_view(const Graph& graph, const Node& node);
// Repeats along new or size-one axes, by strides of zero.
Operand broadcast_operand(const Operand& operand, const Shape& shape);
// Operands as the node's kernels want them: elementwise ones broadcast to the result, matmul's to its leading axes.
void broadcast_inputs(LoweredNode& node, const Graph& graph);

// `reasons` is of the graph's nodes.
LoweredGraph lower_views(Graph graph, Device* home, std::vector<std::string> reasons);

}  // namespace ferrule
