// Plans that run elementwise.metal. Other ops' plans call them for some of their nodes.
#pragma once

#include "graphs/elementwise_text.h"
#include "graphs/plan.h"

namespace ferrule::metal {

// The plan of a node that computes each element of its outputs by this code.
Plan plan_code(const PlannedNode& node, const ElementCode& code);

// The plan of elementwise ops, single and fused.
Plan plan_elementwise(const PlannedNode& node, const Capabilities& capabilities);

}  // namespace ferrule::metal
