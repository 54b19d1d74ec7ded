// Copies where a kernel cannot read an operand as it lies, and where an output would share memory.
#pragma once

#include "core/compiler/lowered.h"
#include "core/compiler/support.h"

namespace ferrule {

void satisfy_layouts(Lowered& lowered, Device* home, Support& support);
// The device on which an input, constant or scalar lies.
Device* home_of(const Graph& graph, ValueId value, Device* home);

}  // namespace ferrule
