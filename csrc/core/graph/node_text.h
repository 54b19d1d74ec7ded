// A node in one line, for plans and messages.
#pragma once

#include "core/graph/graph.h"

namespace ferrule {

// "softmax(%3, axis=1)", with the operands as given.
std::string call_text(const Node& node, std::span<const std::string> operands);
// "%4 = softmax(%3, axis=1) : float32(2, 3)", with the operands as given.
std::string assignment_text(const Graph& graph, const Node& node, std::span<const std::string> operands);
// The same with the node's own operands.
std::string node_text(const Graph& graph, const Node& node);

}  // namespace ferrule
