// The plan of a node: dispatches of compiled shaders.
#pragma once

#include <ferrule/backend.hpp>
#include <ferrule/cpp/planning.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/capabilities.h"
#include "pipelines/dispatch.h"

namespace ferrule::vulkan {

struct Plan {
  sdk::Support support = {};
  std::vector<Dispatch> dispatches = {};
  uint64_t scratch = 0;  // bytes that the node's dispatches share; freed after the node
};

inline Plan refusal(std::string reason) { return {.support = {.supported = false, .reason = std::move(reason)}}; }

using sdk::PlannedNode;
using Kernel = sdk::PlannedKernel<Plan, Capabilities>;

// The kernel of an op; null if there is none.
const Kernel* find_kernel(std::string_view op);

}  // namespace ferrule::vulkan
