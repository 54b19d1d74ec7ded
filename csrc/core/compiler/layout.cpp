// Inserts copies of operands that a kernel cannot read in place; the plan lists them.
#include "core/compiler/layout.h"

#include "core/memory/storage.h"
#include "core/registry/device.h"

namespace ferrule {
namespace {

bool innermost_is_contiguous(const Operand& operand) {
  const int rank = operand.type.shape.rank();
  return rank == 0 || operand.type.shape[rank - 1] <= 1 || operand.strides[rank - 1] == 1;
}

bool is_aligned(const Operand& operand, const Graph& graph, uint64_t alignment) {
  if (alignment <= alignment_of(operand.type.dtype)) return true;
  if (!operand.dynamic_offset.empty()) return false;
  const auto bytes = static_cast<uint64_t>(bytes_of(operand.type.dtype, operand.offset));
  return graph.values[operand.root].kind == ValueKind::result && alignment <= 64 && bytes % alignment == 0;
}

// Why the operand needs a copy for this answer; empty if it does not.
std::string unmet(const SupportAnswer& answer, std::size_t index, const Operand& operand, const Graph& graph) {
  const auto [layout, alignment] = answer.inputs[index];
  if (layout == FE_LAYOUT_CONTIGUOUS && !is_contiguous(operand.type.shape, operand.strides))
    return "the kernel reads contiguous memory";
  if (layout == FE_LAYOUT_ROWS && !innermost_is_contiguous(operand))
    return "the kernel reads rows of contiguous memory";
  if (!is_aligned(operand, graph, alignment)) return fmt::format("the kernel needs {}-byte alignment", alignment);
  return {};
}

}  // namespace

bool is_whole(const Operand& operand, const Graph& graph) {
  return operand.offset == 0 && operand.dynamic_offset.empty() && is_contiguous(operand.type.shape, operand.strides) &&
         element_count(operand.type.shape) == element_count(graph.type(operand.root).shape);
}

Device* home_of(const Graph& graph, ValueId value, Device* home) {
  const ValueInfo& info = graph.values[value];
  if (info.kind != ValueKind::constant) return home;
  const std::shared_ptr<Storage>& storage = graph.constant_info[info.index].data.storage;
  return storage ? storage->device().get() : home;
}

void satisfy_layouts(LoweredGraph& lowered, Device* home, Support& support) {
  std::vector<LoweredNode> nodes = std::move(lowered.nodes);
  lowered.nodes.clear();
  lowered.nodes.reserve(nodes.size());
  for (LoweredNode& node : nodes) {
    for (Operand& input : node.inputs) {
      const ValueInfo& info = lowered.graph.values[input.root];
      if (info.kind != ValueKind::input && info.kind != ValueKind::constant) continue;
      Device* const from = home_of(lowered.graph, input.root, home);
      // Only whole storages are transferred, so a strided value is made contiguous first.
      if (from != node.device && !is_contiguous(info.type.shape, whole_value(lowered.graph, input.root).strides))
        input = lowered.add_copy(input, from, fmt::format("to be carried to {}", node.device->name()));
    }
    const SupportAnswer* answer = &support.ask(node, lowered.graph, *node.device);
    if (!answer->supported) {
      for (Operand& input : node.inputs)
        if (!is_contiguous(input.type.shape, input.strides))
          input = lowered.add_copy(input, node.device, "the kernel does not read these strides: " + answer->reason);
      answer = &support.ask(node, lowered.graph, *node.device);
      if (!answer->supported)
        fail(FE_UNSUPPORTED, "{} is not supported by {}: {}", node.op->name, node.device->name(), answer->reason);
    }
    const SupportAnswer asked = *answer;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (std::string why = unmet(asked, i, node.inputs[i], lowered.graph); !why.empty())
        node.inputs[i] = lowered.add_copy(node.inputs[i], node.device, std::move(why));
    node.kernel = asked.kernel;
    lowered.nodes.push_back(std::move(node));
  }
  for (LoweredNode& node : lowered.nodes)
    if (node.kernel.empty()) node.kernel = support.ask(node, lowered.graph, *node.device).kernel;

  // Each output is a whole value of its own.
  std::vector<Device*> device_of(lowered.graph.values.size(), home);
  for (const LoweredNode& node : lowered.nodes)
    for (ValueId output : node.outputs) device_of[output] = node.device;
  std::vector<bool> taken(lowered.graph.values.size(), false);
  for (Operand& output : lowered.outputs) {
    if (lowered.graph.values[output.root].kind != ValueKind::result || element_count(output.type.shape) == 0) continue;
    if (!is_whole(output, lowered.graph) || taken[output.root]) {
      Device* const device = device_of[output.root];
      output = lowered.add_copy(output, device, "an output has memory of its own");
      device_of.push_back(device);
      taken.push_back(false);
      lowered.nodes.back().kernel = support.ask(lowered.nodes.back(), lowered.graph, *device).kernel;
    }
    taken[output.root] = true;
  }
}

}  // namespace ferrule
