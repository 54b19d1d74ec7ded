#include "core/compiler/support.h"

#include "core/compiler/owned_graph_view.h"
#include "core/key.h"
#include "core/registry/device.h"
#include "core/sync/fork.h"

#include <cstring>

namespace ferrule {
namespace {

// Everything that an answer may depend on.
std::string key_of(const LoweredNode& node, const Graph& graph, const Device& device) {
  Key key;
  key.add(&device);
  key.add(node.op);
  key.add(*node.attributes);
  key.add(node.inputs.size());
  for (const Operand& input : node.inputs) {
    key.add(input.type);
    key.add(input.strides);
    key.add(graph.values[input.root].kind);
    key.add(input.dynamic_offset.empty());
  }
  key.add(node.outputs.size());
  for (ValueId output : node.outputs) key.add(graph.type(output));
  if (!node.body) return std::string(key.bytes());
  for (const Body::Instruction& instruction : node.body->instructions) {
    key.add(instruction.op);
    key.add(instruction.dtype);
    key.add(instruction.inputs);
    key.add(instruction.attributes);
    key.add(instruction.output);
  }
  key.add(node.body->outputs);
  return std::string(key.bytes());
}

// Fills a view of this node alone; every operand is bound.
void fill(OwnedGraphView& view, const LoweredNode& node, const Graph& graph) {
  uint32_t bindings = 0, scalars = 0, offsets = 0;
  std::vector<uint32_t> inputs, outputs;
  const auto add = [&](const Operand& operand, fe_storage_kind kind) {
    const bool scalar = kind == FE_STORAGE_SCALAR;
    const uint32_t storage = view.add_storage({0, static_cast<uint32_t>(kind), scalar ? scalars++ : bindings++, 0,
                                               bytes_reached(operand), alignment_of(operand.type.dtype), -1, 0});
    Operand placed = operand;
    placed.offset += elements_before(operand);
    return view.add_value(placed, storage, operand.dynamic_offset.empty() ? -1 : static_cast<int32_t>(offsets++));
  };
  for (const Operand& input : node.inputs) {
    const ValueKind kind = graph.values[input.root].kind;
    inputs.push_back(add(input, kind == ValueKind::scalar     ? FE_STORAGE_SCALAR
                                : kind == ValueKind::constant ? FE_STORAGE_CONSTANT
                                                              : FE_STORAGE_INPUT));
  }
  for (ValueId output : node.outputs) outputs.push_back(add(whole_value(graph, output), FE_STORAGE_OUTPUT));
  view.add_node(node, std::move(inputs), std::move(outputs));
  view.finish(bindings, scalars, offsets, 0);
}

[[noreturn]] void fail_to_answer(const LoweredNode& node, const Device& device, int code, const char* reason) {
  const bool is_known = code > FE_OK && code < FE_CODE_COUNT;
  fail(is_known ? static_cast<fe_code>(code) : FE_INTERNAL, "{}: {} failed to say whether it supports it: {}",
       node.op->name, device.name(), reason ? reason : "it gave no reason");
}

}  // namespace

const SupportAnswer& Support::ask(const LoweredNode& node, const Graph& graph, Device& device) {
  std::string key = key_of(node, graph, device);
  const auto found = answers_.find(key);
  if (found != answers_.end()) return found->second;
  const DeviceUse asking = device.use("a graph that is being compiled");
  OwnedGraphView view;
  fill(view, node, graph);
  std::vector<fe_input_requirement> asked(node.inputs.size(), {sizeof(fe_input_requirement), FE_LAYOUT_ANY, 0});
  fe_requirements requirements{
      sizeof requirements, asked.data(), static_cast<uint32_t>(asked.size()), 0, nullptr, nullptr};
  SupportAnswer answer;
  int supported = 0;
  {
    // The module may take a lock of its own, which a child forked meanwhile would find locked.
    const HoldsForks holds_forks;
    supported = device.table().supports(device.open(), &view.view(), 0, &requirements);
  }
  if (supported < 0) fail_to_answer(node, device, -supported, requirements.reason);
  answer.supported = supported > 0;
  for (const fe_input_requirement& input : asked) answer.inputs.push_back({input.layout, input.alignment});
  if (requirements.kernel) answer.kernel = requirements.kernel;
  if (requirements.reason) answer.reason = requirements.reason;
  return answers_.emplace(std::move(key), std::move(answer)).first->second;
}

LoweredNode contiguous_node(const Node& node, const Graph& graph) {
  LoweredNode lowered{node.op, node.attributes, node.body, node.device, {}, node.outputs, {}, {}};
  for (ValueId input : node.inputs) lowered.inputs.push_back(whole_value(graph, input));
  broadcast_inputs(lowered, graph);
  return lowered;
}

}  // namespace ferrule
