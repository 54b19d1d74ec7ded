// Memory layout of operands and results.
#pragma once

#include "core/compiler/lowered_graph.h"
#include "core/compiler/support.h"

namespace ferrule {

// Inserts copies where a kernel cannot read an operand in place, and where outputs would share memory.
void satisfy_layouts(LoweredGraph& lowered, Device* home, Support& support);
// Slice updates write into the array that they update if nothing else reads it (write_in_place.cpp).
void write_in_place(LoweredGraph& lowered);
// Whether the operand covers all of its root, contiguously.
bool is_whole(const Operand& operand, const Graph& graph);
// The device that holds an input, constant or scalar.
Device* home_of(const Graph& graph, ValueId value, Device* home);

}  // namespace ferrule
