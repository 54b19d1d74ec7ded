// Nodes of a LoweredGraph as an fe_graph_view that owns everything it points to.
#pragma once

#include "core/compiler/lowered_graph.h"

#include <ferrule/graph_view.h>

#include <deque>

namespace ferrule {

class OwnedGraphView {
 public:
  OwnedGraphView() = default;
  OwnedGraphView(const OwnedGraphView&) = delete;
  OwnedGraphView& operator=(const OwnedGraphView&) = delete;

  // Adds a storage; returns its index.
  uint32_t add_storage(fe_storage storage);
  // Adds the value of an operand in a storage; returns its index. `offset_slot` is -1 if the offset is known.
  uint32_t add_value(const Operand& operand, uint32_t storage, int32_t offset_slot);
  void add_node(const LoweredNode& node, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs);
  // Builds the view from what was added.
  void finish(uint32_t bindings, uint32_t scalars, uint32_t offsets, uint64_t workspace);
  const fe_graph_view& view() const { return view_; }
  const fe_storage* storage(uint32_t index) const { return storage_pointers_[index]; }

 private:
  struct ValueData {
    Shape shape;
    Strides strides;
    fe_value value;
  };
  struct InstructionData {
    std::vector<uint32_t> inputs;
    ops::PackedAttributes attributes;
    fe_instruction instruction;
  };
  struct BodyData {
    std::vector<fe_dtype> inputs;
    std::deque<InstructionData> instructions;
    std::vector<const fe_instruction*> pointers;
    std::vector<uint32_t> outputs;
    fe_body body;
  };
  struct NodeData {
    std::vector<uint32_t> inputs, outputs;
    ops::PackedAttributes attributes;
    fe_node node;
  };
  const fe_body* body_of(const std::shared_ptr<const Body>& body);

  std::deque<fe_storage> storages_;
  std::deque<ValueData> values_;
  std::deque<NodeData> nodes_;
  std::deque<BodyData> bodies_;
  std::vector<std::shared_ptr<const Body>> kept_;
  std::vector<const fe_storage*> storage_pointers_;
  std::vector<const fe_value*> value_pointers_;
  std::vector<const fe_node*> node_pointers_;
  fe_graph_view view_{};
};

// Number of elements that an operand with negative strides reaches before the first element of its root. The storage
// begins at the lowest such element.
int64_t elements_before(const Operand& operand);

// Bytes from the lowest element of a storage to the end of the operand's last.
uint64_t bytes_reached(const Operand& operand);

}  // namespace ferrule
