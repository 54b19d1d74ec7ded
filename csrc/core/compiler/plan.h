// The compiler's result, which the executor runs: steps in order, each a segment that one device compiles and executes,
// or a transfer of a slot's bytes to another device.
#pragma once

#include "core/compiler/dynamic_offset.h"
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
  uint32_t index = 0;                 // number of the graph's input, constant or output; unused for transferred
  Device* device = nullptr;           // where the bytes are
  TensorType type;                    // contiguous for outputs and transferred slots
  std::shared_ptr<Storage> prepared;  // constants that a kernel packed: bound instead of the constant
  int32_t takes_over = -1;            // outputs: slot of the input whose memory they may use if it is donated; else -1
};

// A graph view that owns everything it points to.
class OwnedGraphView;

// One line of the plan as users see it.
struct PlannedNode {
  Node node;                      // its values are those of the lowered graph
  std::vector<TensorType> types;  // of its outputs
  std::string kernel;             // named by the device; "copy" for nodes that the layout pass inserted
  std::string reason;             // why it is not on the requested device, or why it is a copy; else empty

  const char* op() const { return node.op->name; }
};

struct Segment {
  Device* device = nullptr;
  std::shared_ptr<const OwnedGraphView> view;
  std::vector<uint32_t> bindings;      // slot of each binding of the view
  std::vector<uint32_t> scalars;       // number in the graph of each scalar of the view
  std::vector<DynamicOffset> offsets;  // of each dynamic offset of the view
  std::vector<PlannedNode> nodes;
};

struct Transfer {
  uint32_t from = 0, to = 0;  // slots
};

struct Plan {
  std::vector<Slot> slots;
  std::vector<std::variant<Segment, Transfer>> steps;
  // An output of the graph: its slot, or the number and view of an input, constant or scalar that is passed through.
  struct Output {
    enum class Kind : uint8_t { slot, input, constant, scalar } kind = Kind::slot;
    uint32_t index = 0;
    TensorType type;
    int64_t offset = 0;  // of the passed-through view, in elements; added to the bound array's offset
    Strides strides;
    DynamicOffset dynamic_offset = {};  // of the passed-through view
  };
  std::vector<Output> outputs;
  std::vector<TensorType> inputs;
  std::vector<Strides> input_strides;    // of each input, in elements
  std::vector<Device*> input_devices;    // device of each input
  std::vector<GraphConstant> constants;  // by constant number
  // Default of each scalar: of those of the graph, then of those that decompositions added, which callers do not bind.
  std::vector<fe_scalar> scalar_defaults;
  Device* home = nullptr;       // the graph's device
  uint64_t workspace_size = 0;  // the maximum of the segments
};

enum class Fallback : uint8_t { warn, error, allow };

struct CompileOptions {
  Device* device = nullptr;       // the default device of nodes; open
  std::vector<Device*> fallback;  // tried in order for nodes that the requested device refuses; open
  Fallback on_fallback = Fallback::warn;
  bool fuse = true;
  // Computes a graph without inputs, to fold constants. Empty = no folding.
  std::function<std::vector<GraphConstant>(const Graph&)> evaluate;
};

// Runs all passes. Throws Error(unsupported) with op, shapes, dtypes and device if no device supports a node.
Plan compile(Graph graph, const CompileOptions& options);

// The view of a segment, which has the size of its workspace.
const fe_graph_view& graph_view_of(const OwnedGraphView& view);

std::string plan_to_json(const Plan& plan);
std::string placement_to_json(const Plan& plan);

}  // namespace ferrule
