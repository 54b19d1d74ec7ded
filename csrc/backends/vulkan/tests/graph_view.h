// A graph view of one node as the core would pass it, for planning without a device.
#pragma once

#include "graphs/plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "fake_host.h"
#include "ops/row.h"

namespace ferrule::test {

using Axes = std::vector<int64_t>;

inline const std::vector<std::string> planned_ops = {
    "",      "fused",       "copy",      "astype",       "add",       "less",       "where",      "exp",
    "gelu",  "relu",        "clip",      "floor_divide", "remainder", "pow",        "bitwise_or", "bitwise_invert",
    "isnan", "logical_xor", "maximum",   "negative",     "sqrt",      "round",      "matmul",     "atan",
    "sum",   "max",         "nextafter", "positive",     "signbit",   "logical_not"};

inline fe_op op_id(std::string_view name) {
  for (fe_op id = 1; id < planned_ops.size(); ++id)
    if (planned_ops[id] == name) return id;
  return 0;
}

inline const fe_host& naming_host() {
  static const fe_host host = [] {
    fe_host slots = fake_host();
    slots.op_name = [](fe_op op) { return planned_ops[op].c_str(); };
    return slots;
  }();
  return host;
}

// A view of one node. Inputs are the first values.
struct View {
  std::deque<Axes> axes;
  std::deque<fe_value> values;
  std::vector<const fe_value*> value_pointers;
  fe_storage storage{};
  const fe_storage* storage_pointer = &storage;
  std::vector<uint32_t> inputs, outputs;
  fe_node node{};
  const fe_node* node_pointer = &node;
  fe_graph_view view{};

  void value(std::string_view dtype, const Axes& shape, const Axes& strides) {
    fe_value value{};
    value.dtype = dtype_id(dtype);
    value.rank = static_cast<int32_t>(shape.size());
    value.shape = axes.emplace_back(shape).data();
    value.strides = axes.emplace_back(strides).data();
    value_pointers.push_back(&values.emplace_back(value));
  }
  void input(std::string_view dtype, const Axes& shape = {4}, const Axes& strides = {1}) {
    inputs.push_back(static_cast<uint32_t>(values.size()));
    value(dtype, shape, strides);
  }
  void output(std::string_view dtype, const Axes& shape = {4}, const Axes& strides = {1}) {
    outputs.push_back(static_cast<uint32_t>(values.size()));
    value(dtype, shape, strides);
  }
  vulkan::PlannedNode planned(std::string_view op, const void* attributes = nullptr, const fe_body* body = nullptr) {
    node.op = op_id(op);
    node.input_count = static_cast<uint32_t>(inputs.size());
    node.output_count = static_cast<uint32_t>(outputs.size());
    node.inputs = inputs.data();
    node.outputs = outputs.data();
    node.attributes = attributes;
    node.body = body;
    view.storages = &storage_pointer;
    view.values = value_pointers.data();
    view.nodes = &node_pointer;
    return {view, 0};
  }
};

class PlansNodes : public testing::Test {
 protected:
  void SetUp() override {
    before_ = sdk::host;
    sdk::host = &naming_host();
  }
  void TearDown() override { sdk::host = before_; }

 private:
  const fe_host* before_ = nullptr;
};

}  // namespace ferrule::test
