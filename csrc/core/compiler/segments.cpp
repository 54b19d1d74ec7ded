#include "core/compiler/segments.h"

#include "core/compiler/layout.h"
#include "core/compiler/owned_graph_view.h"
#include "core/compiler/plan_memory.h"
#include "core/memory/storage.h"
#include "core/registry/device.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace ferrule {
namespace {

constexpr uint32_t none = UINT32_MAX;

struct Range {
  std::size_t begin, end;
};

class Splitter {
 public:
  Splitter(const LoweredGraph& lowered, Device* home)
      : lowered_(lowered), graph_(lowered.graph), home_(home), values_(lowered.graph.values.size()) {}

  Plan run() {
    for (uint32_t i = 0; i < lowered_.outputs.size(); ++i) {
      const Operand& output = lowered_.outputs[i];
      // An output without elements needs none of its root's bytes; the root may be a value of any size.
      const bool has_elements = element_count(output.type.shape) > 0;
      if (has_elements && graph_.values[output.root].kind == ValueKind::result) values_[output.root].output = i;
    }
    const std::vector<Range> ranges = runs_of_one_device();
    for (uint32_t i = 0; i < ranges.size(); ++i) note_uses(ranges[i], i);
    for (uint32_t i = 0; i < ranges.size(); ++i) make_segment(ranges[i], i);
    finish_outputs();
    for (ValueId input : graph_.inputs) plan_.inputs.push_back(graph_.type(input));
    for (const GraphInput& info : graph_.input_info) plan_.input_strides.push_back(info.strides);
    plan_.input_devices.assign(graph_.inputs.size(), home_);
    plan_.constants = graph_.constant_info;
    plan_.home = home_;
    plan_.scalar_defaults = graph_.scalar_defaults;
    release_unused_constants();
    return std::move(plan_);
  }

 private:
  struct ValueUse {
    uint32_t segment = none;   // the segment that computes it
    uint32_t output = none;    // output number
    bool leaves = false;       // read by a later segment
    std::size_t last_use = 0;  // node within the segment that computes it
    std::map<Device*, uint32_t> slots;
  };

  std::vector<Range> runs_of_one_device() const {
    std::vector<Range> ranges;
    for (std::size_t i = 0; i < lowered_.nodes.size(); ++i) {
      if (ranges.empty() || lowered_.nodes[i].device != lowered_.nodes[i - 1].device) ranges.push_back({i, i});
      ranges.back().end = i + 1;
    }
    return ranges;
  }

  void note_uses(Range range, uint32_t segment) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      for (const Operand& input : lowered_.nodes[i].inputs) {
        ValueUse& use = values_[input.root];
        if (use.segment == segment)
          use.last_use = i;
        else
          use.leaves = true;
      }
      for (ValueId output : lowered_.nodes[i].outputs) {
        values_[output].segment = segment;
        values_[output].last_use = i;
      }
    }
  }

  uint32_t add_slot(Slot slot) {
    plan_.slots.push_back(std::move(slot));
    return static_cast<uint32_t>(plan_.slots.size() - 1);
  }

  // The slot that holds the value on this device; adds a transfer if necessary.
  uint32_t slot_on(ValueId value, Device* device) {
    ValueUse& use = values_[value];
    if (const auto found = use.slots.find(device); found != use.slots.end()) return found->second;
    const ValueInfo& info = graph_.values[value];
    if (info.kind != ValueKind::result && home_of(graph_, value, home_) == device) {
      const auto kind = info.kind == ValueKind::input ? Slot::Kind::input : Slot::Kind::constant;
      return use.slots[device] = add_slot({kind, info.index, device, info.type, nullptr});
    }
    Device* const from_device =
        info.kind == ValueKind::result ? use.slots.begin()->first : home_of(graph_, value, home_);
    const uint32_t from = slot_on(value, from_device);
    const uint32_t to = add_slot({Slot::Kind::transferred, 0, device, info.type, nullptr});
    plan_.steps.emplace_back(Transfer{from, to});
    return values_[value].slots[device] = to;
  }

  // ---- one segment

  struct Building {
    Segment segment;
    std::shared_ptr<OwnedGraphView> view = std::make_shared<OwnedGraphView>();
    std::unordered_map<ValueId, uint32_t> storages;
    std::unordered_map<uint32_t, uint32_t> prepared_storages;  // by slot
    WorkspacePlanner workspace;
  };

  using Prepared = std::map<std::pair<uint32_t, uint32_t>, uint32_t>;  // (node, input) of the view -> slot

  void make_segment(Range range, uint32_t number) {
    Device* const device = lowered_.nodes[range.begin].device;
    // Transfers come before the segment, so find all slots first.
    for (std::size_t i = range.begin; i < range.end; ++i)
      for (const Operand& input : lowered_.nodes[i].inputs)
        if (graph_.values[input.root].kind != ValueKind::scalar && !is_dropped(input.root) &&
            values_[input.root].segment != number)
          slot_on(input.root, device);
    Building first = build(range, number, device, {});
    const Prepared prepared = prepare(range, *device, first.view->view());
    Building built = prepared.empty() ? std::move(first) : build(range, number, device, prepared);
    built.segment.view = built.view;
    plan_.workspace_size = std::max(plan_.workspace_size, built.workspace.size());
    plan_.steps.emplace_back(std::move(built.segment));
  }

  Building build(Range range, uint32_t number, Device* device, const Prepared& prepared) {
    Building b;
    b.segment.device = device;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const LoweredNode& node = lowered_.nodes[i];
      std::vector<uint32_t> inputs, outputs;
      for (uint32_t k = 0; k < node.inputs.size(); ++k) {
        const auto found = prepared.find({static_cast<uint32_t>(i - range.begin), k});
        const uint32_t storage = found == prepared.end() ? storage_of(b, node.inputs[k], device, number)
                                                         : prepared_storage(b, found->second);
        Operand placed = node.inputs[k];
        placed.offset += elements_before(whole_value(graph_, placed.root));
        inputs.push_back(b.view->add_value(placed, storage, offset_slot(b, placed.dynamic_offset)));
      }
      for (ValueId output : node.outputs) {
        const Operand operand = whole_value(graph_, output);
        outputs.push_back(b.view->add_value(operand, storage_of(b, operand, device, number), -1));
      }
      b.view->add_node(node, std::move(inputs), std::move(outputs));
      b.segment.nodes.push_back(plan_node(node));
      release_temporaries(b, node, i, number);
    }
    b.view->finish(static_cast<uint32_t>(b.segment.bindings.size()), static_cast<uint32_t>(b.segment.scalars.size()),
                   static_cast<uint32_t>(b.segment.offsets.size()), b.workspace.size());
    return b;
  }

  // Index of a dynamic offset among those of the segment, to which it is added if it is new; -1 if it is empty.
  static int32_t offset_slot(Building& b, const DynamicOffset& offset) {
    if (offset.empty()) return -1;
    std::vector<DynamicOffset>& offsets = b.segment.offsets;
    const auto index = std::find(offsets.begin(), offsets.end(), offset) - offsets.begin();
    if (static_cast<std::size_t>(index) == offsets.size()) offsets.push_back(offset);
    return static_cast<int32_t>(index);
  }

  // A result without elements, whose node was removed: it is not computed and has no bytes.
  bool is_dropped(ValueId value) const {
    return graph_.values[value].kind == ValueKind::result && values_[value].segment == none;
  }

  bool is_temporary(ValueId value, uint32_t number) const {
    const ValueUse& use = values_[value];
    return graph_.values[value].kind == ValueKind::result && use.segment == number && use.output == none && !use.leaves;
  }

  uint32_t storage_of(Building& b, const Operand& operand, Device* device, uint32_t number) {
    const ValueId root = operand.root;
    if (const auto found = b.storages.find(root); found != b.storages.end()) return found->second;
    const ValueInfo& info = graph_.values[root];
    const uint64_t bytes = bytes_reached(whole_value(graph_, root));
    fe_storage storage{0, 0, 0, 0, bytes, alignment_of(info.type.dtype), -1, 0};
    if (is_dropped(root)) {
      storage.kind = FE_STORAGE_TEMPORARY;
    } else if (info.kind == ValueKind::scalar) {
      storage.kind = FE_STORAGE_SCALAR;
      storage.binding = static_cast<uint32_t>(b.segment.scalars.size());
      b.segment.scalars.push_back(info.index);
    } else if (is_temporary(root, number)) {
      storage.kind = FE_STORAGE_TEMPORARY;
      storage.offset = b.workspace.take(bytes);
      storage.alignment = WorkspacePlanner::alignment;
    } else {
      const bool written = info.kind == ValueKind::result && values_[root].segment == number;
      const uint32_t slot = written ? written_slot(root, device) : slot_on(root, device);
      storage.kind = written                                          ? FE_STORAGE_OUTPUT
                     : plan_.slots[slot].kind == Slot::Kind::constant ? FE_STORAGE_CONSTANT
                                                                      : FE_STORAGE_INPUT;
      storage.binding = bind(b, slot);
      if (const auto input = lowered_.takes_over.find(root); written && input != lowered_.takes_over.end())
        take_over(b, slot, storage, whole_value(graph_, input->second), device, number);
    }
    return b.storages[root] = b.view->add_storage(storage);
  }

  // Lets an output reuse the memory of an input on the same device, which this segment then binds as well.
  void take_over(Building& b, uint32_t slot, fe_storage& storage, const Operand& input, Device* device,
                 uint32_t number) {
    if (plan_.slots[slot].kind != Slot::Kind::output || device != home_) return;
    storage.reuses = static_cast<int32_t>(storage_of(b, input, device, number));
    plan_.slots[slot].takes_over = static_cast<int32_t>(slot_on(input.root, device));
  }

  uint32_t prepared_storage(Building& b, uint32_t slot) {
    if (const auto found = b.prepared_storages.find(slot); found != b.prepared_storages.end()) return found->second;
    return b.prepared_storages[slot] = b.view->add_storage(
               {0, FE_STORAGE_CONSTANT, bind(b, slot), 0, plan_.slots[slot].prepared->size(), 64, -1, 1});
  }

  static uint32_t bind(Building& b, uint32_t slot) {
    b.segment.bindings.push_back(slot);
    return static_cast<uint32_t>(b.segment.bindings.size() - 1);
  }

  // The slot of a result that outlives its segment.
  uint32_t written_slot(ValueId value, Device* device) {
    ValueUse& use = values_[value];
    if (const auto found = use.slots.find(device); found != use.slots.end()) return found->second;
    const bool is_output = use.output != none && device == home_;
    const TensorType type = is_output ? lowered_.outputs[use.output].type : graph_.type(value);
    return use.slots[device] = add_slot({is_output ? Slot::Kind::output : Slot::Kind::transferred,
                                         is_output ? use.output : 0, device, type, nullptr});
  }

  void release_temporaries(Building& b, const LoweredNode& node, std::size_t index, uint32_t number) {
    const auto release = [&](ValueId value) {
      if (!is_temporary(value, number) || values_[value].last_use != index) return;
      const auto found = b.storages.find(value);
      if (found == b.storages.end()) return;
      const fe_storage& storage = *b.view->storage(found->second);
      b.workspace.give_back(storage.offset, storage.size);
      b.storages.erase(found);
    };
    for (const Operand& input : node.inputs) release(input.root);
    for (ValueId output : node.outputs) release(output);
  }

  Prepared prepare(Range range, Device& device, const fe_graph_view& view) {
    std::vector<ConstantOperand> operands;
    std::vector<const ValueInfo*> constants;  // of the operands
    for (std::size_t i = range.begin; i < range.end; ++i)
      for (uint32_t k = 0; k < lowered_.nodes[i].inputs.size(); ++k) {
        const ValueInfo& info = graph_.values[lowered_.nodes[i].inputs[k].root];
        if (info.kind != ValueKind::constant || !lowered_.nodes[i].inputs[k].dynamic_offset.empty()) continue;
        const StridedStorage& constant = graph_.constant_info[info.index].data;
        if (!constant.storage || constant.storage->device().get() != &device) continue;
        const Reach reach = reach_of(info.type.shape, constant.strides);
        const auto begin = static_cast<uint64_t>(bytes_of(info.type.dtype, constant.offset - reach.before));
        const auto size = static_cast<uint64_t>(bytes_of(info.type.dtype, reach.before + 1 + reach.after));
        operands.push_back({static_cast<uint32_t>(i - range.begin), k, constant.storage, begin, size});
        constants.push_back(&info);
      }
    Prepared prepared;
    const std::vector<std::shared_ptr<Storage>> packed = prepared_constants(device, view, operands);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!packed[i]) continue;
      auto [found, fresh] = prepared_slots_.emplace(packed[i].get(), 0);
      if (fresh)
        found->second = add_slot({Slot::Kind::constant, constants[i]->index, &device, constants[i]->type, packed[i]});
      prepared[{operands[i].node, operands[i].input}] = found->second;
    }
    return prepared;
  }

  PlannedNode plan_node(const LoweredNode& node) const {
    PlannedNode planned{{node.op, {}, node.outputs, node.attributes, node.body}, {}, node.kernel, node.reason};
    for (const Operand& input : node.inputs) planned.node.inputs.push_back(input.root);
    for (ValueId output : node.outputs) planned.types.push_back(graph_.type(output));
    return planned;
  }

  void finish_outputs() {
    for (uint32_t i = 0; i < lowered_.outputs.size(); ++i) {
      const Operand& output = lowered_.outputs[i];
      const ValueInfo& info = graph_.values[output.root];
      Plan::Output to{Plan::Output::Kind::slot, info.index,           output.type, output.offset,
                      output.strides,           output.dynamic_offset};
      if (info.kind == ValueKind::input) to.kind = Plan::Output::Kind::input;
      if (info.kind == ValueKind::constant) to.kind = Plan::Output::Kind::constant;
      if (info.kind == ValueKind::scalar) to.kind = Plan::Output::Kind::scalar;
      if (to.kind == Plan::Output::Kind::slot) {
        to.offset = 0;
        to.strides = contiguous_strides(output.type.shape);
        to.index = output_slot(output, i);
      }
      plan_.outputs.push_back(to);
    }
  }

  // Releases constants that nothing reads because they were folded. Packed constants stay, so that graphs compiled
  // later share the packed copy.
  void release_unused_constants() {
    std::vector<bool> used(plan_.constants.size(), false);
    const auto note = [&](uint32_t slot) {
      if (plan_.slots[slot].kind == Slot::Kind::constant) used[plan_.slots[slot].index] = true;
    };
    for (const auto& step : plan_.steps) {
      if (const auto* transfer = std::get_if<Transfer>(&step))
        note(transfer->from);
      else
        for (uint32_t slot : std::get<Segment>(step).bindings) note(slot);
    }
    for (const Plan::Output& output : plan_.outputs)
      if (output.kind == Plan::Output::Kind::constant) used[output.index] = true;
    for (std::size_t i = 0; i < used.size(); ++i)
      if (!used[i]) plan_.constants[i].data.storage = nullptr;
  }

  uint32_t output_slot(const Operand& output, uint32_t number) {
    ValueUse& use = values_[output.root];
    if (element_count(output.type.shape) > 0) {
      if (const auto found = use.slots.find(home_); found != use.slots.end()) return found->second;
      const uint32_t to = add_slot({Slot::Kind::output, number, home_, output.type, nullptr});
      plan_.steps.emplace_back(Transfer{use.slots.begin()->second, to});
      return use.slots[home_] = to;
    }
    return add_slot({Slot::Kind::output, number, home_, output.type, nullptr});
  }

  const LoweredGraph& lowered_;
  const Graph& graph_;
  Device* home_;
  std::vector<ValueUse> values_;
  std::unordered_map<const Storage*, uint32_t> prepared_slots_;
  Plan plan_;
};

}  // namespace

Plan split_into_segments(const LoweredGraph& lowered, Device* home) { return Splitter(lowered, home).run(); }

}  // namespace ferrule
