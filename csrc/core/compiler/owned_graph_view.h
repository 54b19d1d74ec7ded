// LoweredGraph nodes as an fe_graph_view that owns all it points to.
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
  // The value of an operand over a storage. `offset_slot` is -1 when the offset is known.
  uint32_t add_value(const Operand& operand, uint32_t storage, int32_t offset_slot);
  void add_node(const LoweredNode& node, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs);
  // Makes the view of what was added.
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

// Elements of an operand that lie before its storage's first, `offset` elements behind which it begins: negative
// strides lead to them. A storage begins at the lowest.
int64_t elements_before(const Operand& operand);

// Bytes from the lowest element of a storage to the end of the operand's last.
uint64_t bytes_reached(const Operand& operand);

}  // namespace ferrule
