#include "core/compiler/lowered_graph.h"
#include "ops/table.h"

#include <algorithm>
#include <string_view>

namespace ferrule {
namespace {

// Strides of the new shape over the same elements; false if that needs a copy. Axes of both shapes are matched in
// groups of equal element count; the old axes of a group must be traversed by one stride.
bool reshape_strides(const Operand& from, const Shape& shape, Strides& strides) {
  Shape old_shape;
  Strides old_strides;
  for (int axis = 0; axis < from.type.shape.rank(); ++axis)
    if (from.type.shape[axis] != 1) {
      old_shape.push_back(from.type.shape[axis]);
      old_strides.push_back(from.strides[axis]);
    }
  strides.resize(shape.rank());
  if (element_count(shape) == 0) {
    strides = contiguous_strides(shape);
    return true;
  }
  int old_axis = 0, new_axis = 0;
  while (new_axis < shape.rank()) {
    if (shape[new_axis] == 1) {
      strides[new_axis++] = 0;
      continue;
    }
    int old_end = old_axis + 1, new_end = new_axis + 1;
    int64_t old_count = old_shape[old_axis], new_count = shape[new_axis];
    while (old_count != new_count) {
      if (old_count < new_count)
        old_count *= old_shape[old_end++];
      else
        new_count *= shape[new_end++];
    }
    for (int axis = old_axis; axis + 1 < old_end; ++axis) {
      const int64_t size = old_shape[axis + 1];  // the product of it and its stride may overflow; the quotient cannot
      if (old_strides[axis] % size != 0 || old_strides[axis] / size != old_strides[axis + 1]) return false;
    }
    strides[new_end - 1] = old_strides[old_end - 1];
    for (int axis = new_end - 1; axis > new_axis; --axis) strides[axis - 1] = strides[axis] * shape[axis];
    old_axis = old_end;
    new_axis = new_end;
  }
  return true;
}

Operand permute(const Operand& operand, const std::vector<int64_t>& axes) {
  Operand out = operand;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto to = static_cast<int>(i), from = static_cast<int>(axes[i]);
    out.type.shape[to] = operand.type.shape[from];
    out.strides[to] = operand.strides[from];
  }
  return out;
}

Operand slice(const Operand& operand, const std::vector<int64_t>& starts, const std::vector<int64_t>& sizes,
              const std::vector<int64_t>& steps) {
  Operand out = operand;
  bool empty = false;
  for (int64_t size : sizes) empty = empty || size == 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto axis = static_cast<int>(i);
    out.type.shape[axis] = sizes[i];
    out.strides[axis] = sizes[i] > 1 ? operand.strides[axis] * steps[i] : operand.strides[axis];
    if (!empty) out.offset += starts[i] * operand.strides[axis];
  }
  return out;
}

// Applies a node for which is_dynamic_slice_view() is true.
void apply_dynamic_slice_view(const Graph& graph, const Node& node, Operand& operand) {
  const Shape& sizes = graph.type(node.outputs[0]).shape;
  for (int axis = 0; axis < sizes.rank(); ++axis) {
    const ValueId start = node.inputs[static_cast<std::size_t>(axis) + 1];
    operand.dynamic_offset.push_back({graph.values[start].index, graph.type(start).dtype, operand.strides[axis],
                                      operand.type.shape[axis] - sizes[axis]});
  }
  operand.type.shape = sizes;
}

}  // namespace

bool is_dynamic_slice_view(const Graph& graph, const Node& node) {
  static const ops::Row* const dynamic_slice = &ops::op_named("dynamic_slice");
  return node.op == dynamic_slice && std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId start) {
           return graph.values[start].kind == ValueKind::scalar;
         });
}

bool apply_view(const ops::Row& op, const ops::Attributes& attributes, const Shape& result, Operand& operand) {
  const ops::AttributeReader attribute(op, attributes);
  const std::string_view name = op.name;
  if (name == "permute_dims") {
    operand = permute(operand, attribute.integers("axes"));
  } else if (name == "slice") {
    operand = slice(operand, attribute.integers("starts"), attribute.integers("sizes"), attribute.integers("steps"));
  } else if (name == "broadcast_to") {
    operand = broadcast_operand(operand, result);
  } else if (name == "reshape") {
    Strides strides;
    if (!reshape_strides(operand, result, strides)) return false;
    operand.strides = strides;
    operand.type.shape = result;
  } else {
    fail(FE_INTERNAL, "{}: a view that the compiler does not know", name);
  }
  return true;
}

ValueId LoweredGraph::add_value(TensorType type) {
  graph.values.push_back({type, ValueKind::result, 0});
  return static_cast<ValueId>(graph.values.size() - 1);
}

Operand LoweredGraph::add_copy(const Operand& operand, Device* device, std::string reason) {
  const ValueId value = add_value(operand.type);
  nodes.push_back(
      {&ops::op_named("copy"), ops::shared({}), nullptr, device, {operand}, {value}, {}, std::move(reason)});
  return whole_value(graph, value);
}

Operand whole_value(const Graph& graph, ValueId value) {
  const ValueInfo& info = graph.values[value];
  return {value, info.type, 0,
          info.kind == ValueKind::input      ? graph.input_info[info.index].strides
          : info.kind == ValueKind::constant ? graph.constant_info[info.index].data.strides
                                             : contiguous_strides(info.type.shape)};
}

Operand broadcast_operand(const Operand& operand, const Shape& shape) {
  Operand out = operand;
  out.type.shape = shape;
  out.strides.resize(0);
  out.strides.resize(shape.rank());
  const int added = shape.rank() - operand.type.shape.rank();
  for (int axis = added; axis < shape.rank(); ++axis)
    out.strides[axis] = operand.type.shape[axis - added] == 1 && shape[axis] != 1 ? 0 : operand.strides[axis - added];
  return out;
}

void broadcast_inputs(LoweredNode& node, const Graph& graph) {
  if (node.outputs.empty()) return;
  const Shape& result = graph.type(node.outputs[0]).shape;
  const std::string_view op = node.op->name;
  std::size_t own = node.inputs.size();
  if (node.body && op != "fused") own -= node.body->inputs.size() - 1;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Operand& input = node.inputs[i];
    if (node.op->kind == ops::Kind::elementwise || op == "fused" || i >= own) {
      input = broadcast_operand(input, result);
    } else if (op == "matmul") {
      Shape shape(std::span<const int64_t>(result).first(result.size() - 2));
      shape.push_back(input.type.shape[input.type.shape.rank() - 2]);
      shape.push_back(input.type.shape[input.type.shape.rank() - 1]);
      input = broadcast_operand(input, shape);
    } else if (op == "scaled_dot_product_attention" && i == 3 && !is_integer(input.type.dtype)) {  // a mask
      Shape shape(std::span<const int64_t>(result).first(result.size() - 1));
      shape.push_back(node.inputs[1].type.shape[node.inputs[1].type.shape.rank() - 2]);
      input = broadcast_operand(input, shape);
    }
  }
}

LoweredGraph lower_views(Graph graph, Device* home, std::vector<std::string> reasons) {
  LoweredGraph lowered;
  std::vector<Operand> operands(graph.values.size());
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (graph.values[id].kind != ValueKind::result) operands[id] = whole_value(graph, id);
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  const std::vector<ValueId> outputs = graph.outputs;
  lowered.graph = std::move(graph);
  lowered.nodes.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node& node = nodes[i];
    Device* const device = node.device ? node.device : home;
    const auto operand_of = [&](ValueId input) { return operands[input]; };
    const ValueId result = node.outputs[0];
    if (is_dynamic_slice_view(lowered.graph, node)) {
      Operand to = operand_of(node.inputs[0]);
      apply_dynamic_slice_view(lowered.graph, node, to);
      operands[result] = to;
      continue;
    }
    if (node.op->kind == ops::Kind::view) {
      const Shape shape = lowered.graph.type(result).shape;
      Operand to = operand_of(node.inputs[0]);
      if (!apply_view(*node.op, *node.attributes, shape, to)) {
        to = lowered.add_copy(to, device, "reshape of a strided array");
        to.type.shape = shape;
        to.strides = contiguous_strides(shape);
      }
      operands[result] = to;
      continue;
    }
    for (ValueId output : node.outputs) operands[output] = whole_value(lowered.graph, output);
    // Nodes whose results have no elements compute nothing.
    const auto has_elements = [&](ValueId output) { return element_count(lowered.graph.type(output).shape) > 0; };
    if (std::none_of(node.outputs.begin(), node.outputs.end(), has_elements)) continue;
    LoweredNode to{node.op, node.attributes, node.body, device, {}, node.outputs, {}, std::move(reasons[i])};
    for (ValueId input : node.inputs) to.inputs.push_back(operand_of(input));
    broadcast_inputs(to, lowered.graph);
    lowered.nodes.push_back(std::move(to));
  }
  for (ValueId output : outputs) lowered.outputs.push_back(operands[output]);
  return lowered;
}

}  // namespace ferrule
