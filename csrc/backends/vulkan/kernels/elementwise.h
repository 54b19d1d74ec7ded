// Plans that run kernels/elementwise.comp.
#pragma once

#include "graphs/elementwise_body.h"
#include "graphs/plan.h"

namespace ferrule::vulkan {

// The plan of elementwise ops, single and fused. Other ops' plans call it for some of their nodes.
Plan plan_elementwise(const PlannedNode& node, const Capabilities& capabilities);

// The plan of a node that computes each element of its outputs by the calls of a body.
Plan plan_body(Body body, const PlannedNode& node, const Capabilities& capabilities);

}  // namespace ferrule::vulkan
