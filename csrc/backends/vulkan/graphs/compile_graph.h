// Compiles graphs to command buffers.
#pragma once

#include <memory>

#include "graphs/plan.h"
#include "open_device/open_device.h"

namespace ferrule::vulkan {

// The plan of a node; a refusal if no kernel takes it.
Plan plan_of(const PlannedNode& node, const Capabilities& capabilities);

sdk::Support supports_node(const Context& context, const PlannedNode& node);

// The graph is recorded once for each queue that runs it. Throws FE_UNSUPPORTED, with the op's name, for a node that
// `plan_of` refuses.
std::unique_ptr<sdk::Executable> compile_graph(std::shared_ptr<OpenDevice> context, const fe_graph_view& view);

}  // namespace ferrule::vulkan
