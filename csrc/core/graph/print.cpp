// Text, DOT and JSON of a graph.
#include "core/graph/graph.h"
#include "core/graph/node_text.h"
#include "core/registry/device.h"
#include "base/json_text.h"

#include <span>

namespace ferrule {
namespace {

std::string label_of(const Graph& graph, ValueId id) {
  const ValueInfo& value = graph.values[id];
  switch (value.kind) {
    case ValueKind::input:
      return "input " + graph.input_info[value.index].name;
    case ValueKind::constant:
      return "constant " + graph.constant_info[value.index].name;
    case ValueKind::scalar:
      return "scalar";
    case ValueKind::result:
      return "result";
  }
  return "?";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void write(const Graph& graph, ValueId id, JsonText& json) {
  static constexpr const char* kinds[] = {"input", "constant", "scalar", "result"};
  const ValueInfo& value = graph.values[id];
  json.begin_object()
      .member("id", id)
      .member("dtype", name_of(value.type.dtype))
      .member("shape", value.type.shape)
      .member("kind", kinds[static_cast<int>(value.kind)]);
  if (value.kind == ValueKind::input)
    json.member("name", graph.input_info[value.index].name).member("strides", graph.input_info[value.index].strides);
  if (value.kind == ValueKind::constant) json.member("name", graph.constant_info[value.index].name);
  if (value.kind == ValueKind::scalar)
    json.member("bytes", std::span(graph.scalar_defaults[value.index].bytes,
                                   static_cast<std::size_t>(block_bytes(value.type.dtype))));
  json.end_object();
}

void write(const Node& node, JsonText& json) {
  json.begin_object().member("op", node.op->name).member("inputs", node.inputs).member("outputs", node.outputs);
  json.key("attributes").begin_object();
  for (std::size_t i = 0; i < node.op->attribute_count; ++i) {
    json.key(node.op->attributes[i].name);
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, DType>)
            json.value(name_of(value));
          else
            json.value(value);
        },
        (*node.attributes)[i]);
  }
  json.end_object().key("device");
  if (node.device)
    json.value(node.device->name());
  else
    json.value(nullptr);
  json.end_object();
}

}  // namespace

std::string call_text(const Node& node, std::span<const std::string> operands) {
  std::string text = std::string(node.op->name) + "(";
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i ? ", " : "") + operands[i];
  for (std::size_t i = 0; node.attributes && i < node.attributes->size(); ++i)
    text += fmt::format("{}{}={}", i || !operands.empty() ? ", " : "", node.op->attributes[i].name,
                        ops::to_string((*node.attributes)[i]));
  text += ')';
  if (node.body) {
    text += " {";
    for (std::size_t i = 0; i < node.body->instructions.size(); ++i) {
      const Body::Instruction& instruction = node.body->instructions[i];
      text += fmt::format("{}{}", i ? "; " : " ", instruction.op->name);
      if (instruction.op->output_count > 1) text += fmt::format(".{}", instruction.op->outputs[instruction.output]);
      for (uint32_t input : instruction.inputs) text += fmt::format(" {}", input);
    }
    text += " }";
  }
  return text;
}

std::string assignment_text(const Node& node, std::span<const TensorType> types) {
  std::vector<std::string> operands;
  operands.reserve(node.inputs.size());
  for (ValueId input : node.inputs) operands.push_back(fmt::format("%{}", input));
  std::string left, right;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    left += fmt::format("{}%{}", i ? ", " : "", node.outputs[i]);
    right += (i ? ", " : "") + to_string(types[i]);
  }
  return fmt::format("{} = {} : {}", left, call_text(node, operands), right);
}

std::string node_text(const Graph& graph, const Node& node) {
  std::vector<TensorType> types;
  types.reserve(node.outputs.size());
  for (ValueId output : node.outputs) types.push_back(graph.type(output));
  return assignment_text(node, types);
}

std::string to_text(const Graph& graph) {
  std::string text;
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (graph.values[id].kind != ValueKind::result)
      text += fmt::format("%{} = {} : {}\n", id, label_of(graph, id), to_string(graph.type(id)));
  for (const Node& node : graph.nodes)
    text += node_text(graph, node) + (node.device ? " @ " + node.device->name() : "") + "\n";
  text += "return";
  for (ValueId output : graph.outputs) text += fmt::format(" %{}", output);
  return text + "\n";
}

std::string to_dot(const Graph& graph) {
  std::string text =
      "digraph ferrule {\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f4f6f8\", fontname=\"sans-serif\", "
      "fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=8, color=\"#607080\"];\n";
  std::vector<bool> used(graph.values.size(), false);
  for (const Node& node : graph.nodes)
    for (ValueId input : node.inputs) used[input] = true;
  for (ValueId output : graph.outputs) used[output] = true;
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (graph.values[id].kind != ValueKind::result && used[id])
      text += fmt::format("  v{} [label=\"{}\\n{}\", fillcolor=\"{}\"];\n", id, escaped(label_of(graph, id)),
                          to_string(graph.type(id)), graph.values[id].kind == ValueKind::input ? "#d6eadf" : "#fbe9c6");
  const auto name_of_value = [&](ValueId id) {
    const ValueInfo& value = graph.values[id];
    return value.kind == ValueKind::result ? fmt::format("n{}", value.index) : fmt::format("v{}", id);
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::string label = node.op->name;
    if (node.body)
      for (const Body::Instruction& instruction : node.body->instructions)
        label += fmt::format("\\n{}", instruction.op->name);
    text += fmt::format("  n{} [label=\"{}\"];\n", i, label);
    for (ValueId input : node.inputs)
      text += fmt::format("  {} -> n{} [label=\"{}\"];\n", name_of_value(input), i, to_string(graph.type(input)));
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    text += fmt::format("  o{0} [label=\"output {0}\", fillcolor=\"#d8e2f3\"];\n  {1} -> o{0} [label=\"{2}\"];\n", i,
                        name_of_value(graph.outputs[i]), to_string(graph.type(graph.outputs[i])));
  return text + "}\n";
}

std::string to_json(const Graph& graph) {
  JsonText json;
  json.begin_object().key("values").begin_array();
  for (ValueId id = 0; id < graph.values.size(); ++id) write(graph, id, json);
  json.end_array().key("nodes").begin_array();
  for (const Node& node : graph.nodes) write(node, json);
  json.end_array().member("outputs", graph.outputs).end_object();
  return json.take();
}

}  // namespace ferrule
