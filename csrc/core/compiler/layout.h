// How operands and results lie in memory.
#pragma once

#include "core/compiler/lowered_graph.h"
#include "core/compiler/support.h"

namespace ferrule {

// Copies where a kernel cannot read an operand as it lies, and where an output would share memory.
void satisfy_layouts(LoweredGraph& lowered, Device* home, Support& support);
// Updates of slices write into what they update where nobody else reads it (write_in_place.cpp).
void write_in_place(LoweredGraph& lowered);
// Whether the operand is all of its root, as that lies.
bool is_whole(const Operand& operand, const Graph& graph);
// The device on which an input, constant or scalar lies.
Device* home_of(const Graph& graph, ValueId value, Device* home);

}  // namespace ferrule
