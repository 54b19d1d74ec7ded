// A graph whose views have become strides, as devices see it.
#pragma once

#include "core/compiler/dynamic_offset.h"
#include "core/graph/graph.h"

#include <unordered_map>

namespace ferrule {

// Strided elements of the value `root`, whose bytes are contiguous (results) or laid out as bound (inputs, constants).
struct Operand {
  ValueId root = 0;
  TensorType type;
  int64_t offset = 0;                 // in elements, from the root's first
  Strides strides;                    // in elements
  DynamicOffset dynamic_offset = {};  // added to the offset at each execution
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
  Graph graph;  // its values; its nodes are replaced by `nodes`
  std::vector<LoweredNode> nodes;
  std::vector<Operand> outputs;
  // Maps a result that is an input with some bytes changed to that input: if the caller donates the input, the result
  // may use its memory.
  std::unordered_map<ValueId, ValueId> takes_over;

  ValueId add_value(TensorType type);
  // Appends a `copy` node that makes the operand contiguous; returns the operand that reads its result.
  Operand add_copy(const Operand& operand, Device* device, std::string reason);
};

// The operand that covers a whole value.
Operand whole_value(const Graph& graph, ValueId value);
// Applies a view op with a result of this shape. False, and `operand` unchanged, if it needs a copy (reshape).
bool apply_view(const ops::Row& op, const ops::Attributes& attributes, const Shape& result, Operand& operand);
// Whether the node is a dynamic_slice whose starts are scalars of the graph: a view with an offset bound at execution.
bool is_dynamic_slice_view(const Graph& graph, const Node& node);
// Repeats along new axes and axes of size one, by strides of zero.
Operand broadcast_operand(const Operand& operand, const Shape& shape);
// Broadcasts operands as kernels expect them: elementwise ones to the result, those of matmul to its leading axes.
void broadcast_inputs(LoweredNode& node, const Graph& graph);

// `reasons` has one entry per node of the graph.
LoweredGraph lower_views(Graph graph, Device* home, std::vector<std::string> reasons);

}  // namespace ferrule
