#include "core/compiler/rewrite.h"

namespace ferrule {

Rewrite::Rewrite(const Graph& from) : from_(from), map_(from.values.size(), 0) {
  to_.values.reserve(from.values.size());
  for (std::size_t i = 0; i < from.inputs.size(); ++i)
    map_[from.inputs[i]] =
        to_.add_input(from.input_info[i].name, from.type(from.inputs[i]), from.input_info[i].strides);
  to_.input_info = from.input_info;
  for (std::size_t i = 0; i < from.constants.size(); ++i) {
    const GraphConstant& constant = from.constant_info[i];
    map_[from.constants[i]] =
        to_.add_constant(constant.name, from.type(from.constants[i]), constant.data, constant.placement);
  }
  for (std::size_t i = 0; i < from.scalars.size(); ++i)
    map_[from.scalars[i]] = to_.add_scalar(from.type(from.scalars[i]).dtype, from.scalar_defaults[i]);
}

void Rewrite::copy(const Node& node) {
  Node moved = node;
  for (ValueId& input : moved.inputs) input = map_[input];
  std::vector<TensorType> types;
  types.reserve(node.outputs.size());
  for (ValueId output : node.outputs) types.push_back(from_.type(output));
  const std::vector<ValueId> outputs = to_.add_checked(std::move(moved), types);
  for (std::size_t i = 0; i < outputs.size(); ++i) map_[node.outputs[i]] = outputs[i];
}

Graph Rewrite::finish() {
  for (ValueId output : from_.outputs) to_.outputs.push_back(map_[output]);
  return std::move(to_);
}

std::vector<uint32_t> count_uses(const Graph& graph) {
  std::vector<uint32_t> uses(graph.values.size(), 0);
  for (const Node& node : graph.nodes)
    for (ValueId input : node.inputs) ++uses[input];
  for (ValueId output : graph.outputs) ++uses[output];
  return uses;
}

}  // namespace ferrule
