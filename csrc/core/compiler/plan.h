// What the compiler hands to the executor: steps in order, each a segment that one device compiles and executes, or a
// transfer of one slot's bytes to another device.
#pragma once

#include "core/compiler/movement.h"
#include "core/graph/graph.h"

#include <ferrule/backend.h>

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace ferrule {

// Bytes that a segment binds.
struct Slot {
  enum class Kind : uint8_t { input, constant, output, transferred };
  Kind kind = Kind::input;
  uint32_t index = 0;                 // input, constant or output number of the graph; unused for transferred
  Device* device = nullptr;           // where the bytes lie
  TensorType type;                    // outputs and transferred ones are contiguous
  std::shared_ptr<Storage> prepared;  // constants that a kernel had packed: bound instead of the constant
  int32_t takes_over = -1;  // outputs: the slot of the input whose memory they may have, if that is given away
};

// A graph view with all that it points to.
class OwnedGraphView;

// One line of the plan that people see.
struct PlannedNode {
  std::string text;  // "%7 = matmul(%3, %4) : float32(32, 384)"
  std::string op;
  std::string kernel;  // as the device names it; "copy" for what the layout pass inserted
  std::string reason;  // why it runs elsewhere than asked, or why the copy; empty otherwise
  uint64_t output_bytes = 0;
};

struct Segment {
  Device* device = nullptr;
  std::shared_ptr<const OwnedGraphView> view;
  std::vector<uint32_t> bindings;  // the slot of each binding of the view
  std::vector<uint32_t> scalars;   // the graph's scalar of each scalar of the view
  std::vector<Movement> offsets;   // of each dynamic offset of the view
  std::vector<PlannedNode> nodes;
};

struct Transfer {
  uint32_t from = 0, to = 0;  // slots
};

struct Plan {
  std::vector<Slot> slots;
  std::vector<std::variant<Segment, Transfer>> steps;
  // For each output of the graph: the slot, or (input/constant passed through as a view) the value and its view.
  struct Output {
    enum class Kind : uint8_t { slot, input, constant, scalar } kind = Kind::slot;
    uint32_t index = 0;
    TensorType type;
    int64_t offset = 0;  // of the passed-through view, in elements, to be added to the bound one's
    Strides strides;
    Movement movement = {};  // of the passed-through view
  };
  std::vector<Output> outputs;
  std::vector<TensorType> inputs;
  std::vector<Strides> input_strides;    // of each input, in elements
  std::vector<Device*> input_devices;    // where each input lies
  std::vector<GraphConstant> constants;  // by constant number
  // By scalar number: the graph's own first, then those that decompositions brought, which nobody else binds.
  std::vector<fe_scalar> scalar_defaults;
  Device* home = nullptr;       // where inputs and outputs lie
  uint64_t workspace_size = 0;  // the largest of the segments
};

enum class Fallback : uint8_t { warn, error, allow };

struct CompileOptions {
  Device* device = nullptr;       // the default device of nodes; open
  std::vector<Device*> fallback;  // tried in order for nodes that the asked device refuses; open
  Fallback on_fallback = Fallback::warn;
  bool fuse = true;
  // Computes a graph without inputs now: what constants are folded with. Empty = no folding.
  std::function<std::vector<GraphConstant>(const Graph&)> evaluate;
};

// All passes, in order. Throws Error(unsupported) when no device takes a node, naming op, shapes, dtypes and device.
Plan compile(Graph graph, const CompileOptions& options);

// The view of a segment, and the size of its workspace.
const fe_graph_view& graph_view_of(const OwnedGraphView& view);

std::string plan_to_json(const Plan& plan);
std::string placement_to_json(const Plan& plan);

}  // namespace ferrule
