// Chooses the elementwise kernels of elementwise nodes, and of the bodies of others.
#pragma once

#include "steps.h"

namespace ferrule::cpu {

// Adds the inputs and instructions of a body. `first`: the dtype in which its first input is given, which may differ.
void append_body(const fe_body& from, DType first, Attributes& attributes, Body& to);

// The step of an elementwise node: the op `fused` with its body, or a single op.
Choice choose_body(const fe_graph_view& view, const fe_node& node);

}  // namespace ferrule::cpu
