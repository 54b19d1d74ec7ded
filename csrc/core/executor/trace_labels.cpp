// Names of the segments of an executable and of their nodes in traces.
#include "core/executor/observer.h"
#include "core/registry/device.h"
#include "ops/table.h"
#include "base/tensor_type.h"

#include <ferrule/graph_view.h>

#include <mutex>
#include <span>
#include <utility>

namespace ferrule {
namespace {

// The label of a node, such as "fused: add, exp"; for an op with an epilogue "matmul: add, relu".
std::string name_of(const fe_node& node, const std::string& op) {
  std::string name = op;
  for (uint32_t i = 0; node.body && i < node.body->instruction_count; ++i) {
    const ops::Row* const row = ops::op_by_id(node.body->instructions[i]->op);
    name += (i == 0 ? ": " : ", ") + std::string(row ? row->name : "?");
  }
  return name;
}

TensorType type_of(const fe_value& value) {
  return {static_cast<DType>(value.dtype), Shape(std::span(value.shape, static_cast<std::size_t>(value.rank)))};
}

// Elements that are repeated by strides of zero are in memory once.
uint64_t bytes_in(const fe_value& value) {
  int64_t elements = 1;
  for (int32_t axis = 0; axis < value.rank; ++axis)
    if (value.strides[axis] != 0 || value.shape[axis] == 0) elements *= value.shape[axis];
  return static_cast<uint64_t>(bytes_of(static_cast<DType>(value.dtype), elements));
}

std::string types_of(const fe_graph_view& view, std::span<const uint32_t> values) {
  std::string text;
  for (const uint32_t value : values) text += (text.empty() ? "" : ", ") + to_string(type_of(*view.values[value]));
  return text;
}

SegmentLabels make_labels(const Segment& segment, const std::string& what) {
  SegmentLabels labels;
  labels.whole.name = what;
  labels.whole.device = segment.device->name();
  const fe_graph_view& view = graph_view_of(*segment.view);
  for (uint32_t i = 0; i < view.node_count && i < segment.nodes.size(); ++i) {
    const fe_node& node = *view.nodes[i];
    const std::span inputs(node.inputs, node.input_count), outputs(node.outputs, node.output_count);
    TraceLabel label;
    label.name = name_of(node, segment.nodes[i].op());
    label.detail = types_of(view, inputs) + " -> " + types_of(view, outputs);
    label.kernel = segment.nodes[i].kernel;
    label.device = labels.whole.device;
    for (const uint32_t input : inputs) label.bytes_read += bytes_in(*view.values[input]);
    for (const uint32_t output : outputs) label.bytes_written += bytes_in(*view.values[output]);
    labels.whole.bytes_read += label.bytes_read;
    labels.whole.bytes_written += label.bytes_written;
    labels.nodes.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

SegmentLabelsPointer Observer::found_labels(const Segment& segment, const std::string& what) noexcept {
  try {
    {
      const std::scoped_lock lock(mutex_);
      const auto known = labels_.find(&segment);
      if (known != labels_.end()) return known->second;
    }
    auto made = std::make_shared<const SegmentLabels>(make_labels(segment, what));
    const std::scoped_lock lock(mutex_);
    return labels_.emplace(&segment, std::move(made)).first->second;
  } catch (...) {  // no memory
    return nullptr;
  }
}

}  // namespace ferrule
