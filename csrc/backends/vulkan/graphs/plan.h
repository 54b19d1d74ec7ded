// The plan of a node: dispatches of compiled shaders.
#pragma once

#include <ferrule/backend.hpp>

#include <string>
#include <string_view>

#include "device/capabilities.h"
#include "pipelines/dispatch.h"

namespace ferrule::vulkan {

using Plan = sdk::NodePlan<Dispatch>;
inline Plan refusal(std::string reason) { return {.support = {.supported = false, .reason = std::move(reason)}}; }

using sdk::PlannedNode;
using Kernel = sdk::PlannedKernel<Plan, Capabilities>;

// The kernel of an op; null if there is none.
const Kernel* find_kernel(std::string_view op);

}  // namespace ferrule::vulkan
