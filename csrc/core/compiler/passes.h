// The passes from graph to graph, in the order in which compile() runs them, each in its own file. lower_views()
// (lowered_graph.h), satisfy_layouts() and write_in_place() (layout.h) and split_into_segments() (segments.h) then
// work on the lowered graph. No pass recurses over the graph; each takes time linear in the number of nodes, up to a
// logarithm.
#pragma once

#include "core/compiler/plan.h"
#include "core/compiler/support.h"

namespace ferrule {

// Throws if the graph has no output, or uses a value before it is computed.
void check(const Graph& graph);
// Removes the nodes that no output needs.
Graph remove_dead(const Graph& graph);
// Merges nodes with equal op, operands, attributes and device.
Graph remove_duplicates(const Graph& graph);
// Computes nodes of constants alone with `options.evaluate`; views of constants stay views.
Graph fold_constants(const Graph& graph, const CompileOptions& options);
// Makes products with decoded blocks, x @ w.astype(float32).T, products that read the blocks.
Graph read_blocks(Graph graph);
// Gives every node a device that supports it: the requested one, if necessary after decomposing a composite op, else
// the first fallback. `reasons`: for each node of the result, why it is not on the requested device (empty: it is).
Graph place(const Graph& graph, const CompileOptions& options, Support& support, std::vector<std::string>& reasons);
// Merges elementwise regions of one shape and device into fused nodes of at most 64 instructions, alone or as the
// epilogue of an op such as matmul whose kernel takes them. Updates `reasons`.
Graph fuse(const Graph& graph, Device* home, Support& support, std::vector<std::string>& reasons);

}  // namespace ferrule
