// The passes over a graph, in their order; each is a file. None recurses, each is linear in nodes (up to a logarithm).
#pragma once

#include "core/compiler/plan.h"
#include "core/compiler/support.h"

namespace ferrule {

// Throws when the graph has no output, or a value that it uses is not computed before.
void check(const Graph& graph);
// Without the nodes that no output needs.
Graph remove_dead(const Graph& graph);
// Equal op, operands, attributes and device: one node.
Graph remove_duplicates(const Graph& graph);
// Nodes of constants alone are computed now, by `evaluate`; views of constants stay views.
Graph fold_constants(const Graph& graph, const CompileOptions& options);
// Every node gets a device that supports it: the one asked, after decomposition where it has no kernel for a composite,
// else the first fallback. `reasons` says of each node of the result why it is elsewhere than asked (empty: it is not).
Graph place(const Graph& graph, const CompileOptions& options, Support& support, std::vector<std::string>& reasons);
// Elementwise regions of one shape and device become fused nodes of at most 64 instructions, alone or behind a matmul
// or a reduction that takes them. `reasons` follows.
Graph fuse(const Graph& graph, Device* home, Support& support, std::vector<std::string>& reasons);

}  // namespace ferrule
