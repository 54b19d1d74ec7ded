// The plan of elementwise ops, single and fused. Other ops' plans call it for some of their nodes.
#pragma once

#include "graphs/plan.h"

namespace ferrule::metal {

Plan plan_elementwise(const PlannedNode& node, const Capabilities& capabilities);

}  // namespace ferrule::metal
