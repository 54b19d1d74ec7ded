// The plan of a node: dispatches of compiled kernels.
#pragma once

#include <ferrule/backend.hpp>
#include <ferrule/cpp/dispatches.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "device/physical_device.h"
#include "pipelines/pipelines.h"

namespace ferrule::metal {

// Stands for the node's scratch memory in the lists of a dispatch.
inline constexpr uint32_t scratch_value = sdk::Hazards::scratch;

// One kernel and its grid. What it reads and then what it writes is bound from [[buffer(0)]] on, each at the element
// (0, ..., 0) of its value; the record of faults is [[buffer(29)]], the parameters are [[buffer(30)]].
struct Dispatch : sdk::Dispatch {
  static constexpr size_t most_values = 29;

  KernelSource kernel = {};  // `groups` have `kernel.threads` threads
  bool shuffles = false;     // lanes of its simdgroups exchange values
};

using Plan = sdk::NodePlan<Dispatch>;

inline Plan refusal(std::string reason) { return {.support = {.supported = false, .reason = std::move(reason)}}; }

using sdk::PlannedNode;
using Kernel = sdk::PlannedKernel<Plan, Capabilities>;

// The kernel of an op; null if there is none.
const Kernel* find_kernel(std::string_view op);

}  // namespace ferrule::metal
