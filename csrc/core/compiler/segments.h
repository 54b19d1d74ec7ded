// Splits the nodes of a LoweredGraph into segments, transfers and slots.
#pragma once

#include "core/compiler/lowered_graph.h"
#include "core/compiler/plan.h"

namespace ferrule {

Plan split_into_segments(const LoweredGraph& lowered, Device* home);

}  // namespace ferrule
