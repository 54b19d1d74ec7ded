// Asks a device what it supports, once for each kind of node.
#pragma once

#include "core/compiler/lowered_graph.h"

#include <ferrule/backend.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace ferrule {

struct InputRequirement {
  uint32_t layout = FE_LAYOUT_ANY;
  uint64_t alignment = 0;
};

struct SupportAnswer {
  bool supported = false;
  std::vector<InputRequirement> inputs;
  std::string kernel, reason;
};

class Support {
 public:
  // Asks for the node with its operands as they are laid out.
  const SupportAnswer& ask(const LoweredNode& node, const Graph& graph, Device& device);

 private:
  std::unordered_map<std::string, SupportAnswer> answers_;
};

// The node with contiguous operands, broadcast as kernels expect; used before views are lowered.
LoweredNode contiguous_node(const Node& node, const Graph& graph);

}  // namespace ferrule
