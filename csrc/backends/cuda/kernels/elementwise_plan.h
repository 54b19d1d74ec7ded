// The plan of elementwise ops.
#pragma once

#include "graphs/plan.h"

namespace ferrule::cuda {

Plan plan_elementwise(const PlannedNode& node, const Capabilities& capabilities);

}  // namespace ferrule::cuda
