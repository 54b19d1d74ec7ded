// Compiles graphs to dispatches.
#pragma once

#include <memory>

#include "open_device/open_device.h"
#include "graphs/plan.h"

namespace ferrule::metal {

// The plan of a node; a refusal if no kernel takes it.
Plan plan_of(const PlannedNode& node, const Capabilities& capabilities);

// Throws FE_UNSUPPORTED, with the op's name, for a node that `plan_of` refuses.
std::unique_ptr<sdk::Executable> compile_graph(std::shared_ptr<OpenDevice> device, const fe_graph_view& view);

}  // namespace ferrule::metal
