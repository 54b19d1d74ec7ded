// Asking a device what it takes, once for each kind of node.
#pragma once

#include "core/compiler/lowered.h"

#include <string>
#include <unordered_map>

namespace ferrule {

struct SupportAnswer {
  bool supported = false;
  uint32_t contiguous_inputs = 0, innermost_inputs = 0;
  uint64_t alignment = 0;
  std::string kernel, reason;
};

class Support {
 public:
  // Of the node as its operands lie.
  const SupportAnswer& ask(const LoweredNode& node, const Graph& graph, Device& device);

 private:
  std::unordered_map<std::string, SupportAnswer> answers_;
};

// The node with contiguous operands, broadcast as kernels want them: what is asked before views are lowered.
LoweredNode contiguous_node(const Node& node, const Graph& graph);

}  // namespace ferrule
