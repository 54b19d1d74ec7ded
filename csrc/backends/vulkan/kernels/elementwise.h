// Elementwise ops, one at a time and fused: for plans that leave some of their nodes to it.
#pragma once

#include "graphs/plan.h"

namespace ferrule::vulkan {

Plan plan_elementwise(const PlannedNode& node, const Capabilities& capabilities);

}  // namespace ferrule::vulkan
