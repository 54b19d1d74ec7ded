// Inserts straight-line code into a compiled shader without a compiler: an assembler of three SPIR-V instructions.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "pipelines/dispatch.h"

namespace ferrule::vulkan {

// Returns a module whose function `spliced` (no parameters, no result) makes these calls, without the functions that
// are then no longer called. Functions have the names of the GLSL source, which the module must keep (OpName), as well
// as the functions that nothing calls (glslangValidator --keep-uncalled). Throws FE_INTERNAL for an unknown function,
// for arguments that do not fit it, and for words that are not a module.
std::vector<uint32_t> splice(std::span<const uint32_t> module, std::span<const Call> calls);

// The names of a module's functions, for use in calls.
std::set<std::string, std::less<>> function_names(std::span<const uint32_t> module);

// Properties of floating-point arithmetic that a device can guarantee (VkPhysicalDeviceFloatControlsProperties), each
// as a list of the widths it applies to: 16, 32, 64.
struct FloatControls {
  std::vector<uint32_t> denorm_preserve, signed_zero_inf_nan_preserve, rounding_mode_rte;
};
// Returns the module with these float controls requested.
std::vector<uint32_t> with_float_controls(std::span<const uint32_t> module, const FloatControls& controls);

}  // namespace ferrule::vulkan
