#include "core/compiler/owned_graph_view.h"

#include "ops/table.h"

#include <algorithm>

namespace ferrule {

const fe_graph_view& graph_view_of(const OwnedGraphView& view) { return view.view(); }

int64_t elements_before(const Operand& operand) {
  return std::max<int64_t>(0, reach_of(operand.type.shape, operand.strides).before - operand.offset);
}

uint64_t bytes_reached(const Operand& operand) {
  if (element_count(operand.type.shape) == 0) return 0;
  const Reach reach = reach_of(operand.type.shape, operand.strides);
  const int64_t first = std::max(operand.offset, reach.before);
  return static_cast<uint64_t>(bytes_of(operand.type.dtype, first + reach.after + 1));
}

uint32_t OwnedGraphView::add_storage(fe_storage storage) {
  storage.struct_size = sizeof storage;
  storages_.push_back(storage);
  storage_pointers_.push_back(&storages_.back());
  return static_cast<uint32_t>(storages_.size() - 1);
}

uint32_t OwnedGraphView::add_value(const Operand& operand, uint32_t storage, int32_t offset_slot) {
  ValueData& data = values_.emplace_back();
  data.shape = operand.type.shape;
  data.strides = operand.strides;
  data.value = {sizeof(fe_value),
                static_cast<fe_dtype>(operand.type.dtype),
                operand.type.shape.rank(),
                data.shape.data(),
                data.strides.data(),
                storage,
                offset_slot,
                operand.offset};
  value_pointers_.push_back(&data.value);
  return static_cast<uint32_t>(values_.size() - 1);
}

const fe_body* OwnedGraphView::body_of(const std::shared_ptr<const Body>& body) {
  if (!body) return nullptr;
  kept_.push_back(body);
  BodyData& data = bodies_.emplace_back();
  for (DType dtype : body->inputs) data.inputs.push_back(static_cast<fe_dtype>(dtype));
  for (const Body::Instruction& instruction : body->instructions) {
    InstructionData& to = data.instructions.emplace_back();
    to.inputs = instruction.inputs;
    to.attributes = ops::PackedAttributes(*instruction.op, instruction.attributes);
    to.instruction = {sizeof(fe_instruction),
                      ops::id_of(*instruction.op),
                      static_cast<fe_dtype>(instruction.dtype),
                      static_cast<uint32_t>(to.inputs.size()),
                      ops::lowest_revision(*instruction.op, instruction.attributes),
                      to.inputs.data(),
                      to.attributes.data(),
                      instruction.output};
    data.pointers.push_back(&to.instruction);
  }
  data.outputs = body->outputs;
  data.body = {sizeof(fe_body),
               static_cast<uint32_t>(data.inputs.size()),
               static_cast<uint32_t>(data.pointers.size()),
               static_cast<uint32_t>(data.outputs.size()),
               data.inputs.data(),
               data.pointers.data(),
               data.outputs.data()};
  return &data.body;
}

void OwnedGraphView::add_node(const LoweredNode& node, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs) {
  NodeData& data = nodes_.emplace_back();
  data.inputs = std::move(inputs);
  data.outputs = std::move(outputs);
  data.attributes = ops::PackedAttributes(*node.op, *node.attributes);
  data.node = {
      sizeof(fe_node),
      ops::id_of(*node.op),
      ops::lowest_revision(*node.op, *node.attributes, node.inputs.empty() ? DType::none : node.inputs[0].type.dtype),
      static_cast<uint32_t>(data.inputs.size()),
      static_cast<uint32_t>(data.outputs.size()),
      data.inputs.data(),
      data.outputs.data(),
      data.attributes.data(),
      body_of(node.body)};
  node_pointers_.push_back(&data.node);
}

void OwnedGraphView::finish(uint32_t bindings, uint32_t scalars, uint32_t offsets, uint64_t workspace) {
  view_ = {sizeof(fe_graph_view),
           static_cast<uint32_t>(storages_.size()),
           static_cast<uint32_t>(values_.size()),
           static_cast<uint32_t>(nodes_.size()),
           bindings,
           scalars,
           offsets,
           storage_pointers_.data(),
           value_pointers_.data(),
           node_pointers_.data(),
           workspace,
           64};
}

}  // namespace ferrule
