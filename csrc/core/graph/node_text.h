// One-line text of a node, for plans and messages.
#pragma once

#include "core/graph/graph.h"

namespace ferrule {

// "softmax(%3, axis=1)", with the given operands.
std::string call_text(const Node& node, std::span<const std::string> operands);
// "%4 = softmax(%3, axis=1) : float32(2, 3)", with the types of the node's outputs.
std::string assignment_text(const Node& node, std::span<const TensorType> types);
// assignment_text() of a node of a graph.
std::string node_text(const Graph& graph, const Node& node);

}  // namespace ferrule
