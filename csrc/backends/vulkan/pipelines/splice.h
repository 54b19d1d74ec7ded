// Straight-line code put into a compiled shader, without a compiler: an assembler of three SPIR-V instructions.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "graphs/plan.h"

namespace ferrule::vulkan {

// A module whose function `spliced`, of no parameters and no result, makes these calls, and without the functions that
// are then no longer called. Functions are known by the names of the GLSL source, which the module must have kept
// (OpName), also of those that nothing calls (glslangValidator --keep-uncalled). Throws FE_INTERNAL for a function that
// is not there, for arguments that do not fit it, and for words that are no module.
std::vector<uint32_t> splice(std::span<const uint32_t> module, std::span<const Call> calls);

// The names of a module's functions, which calls may use.
std::set<std::string, std::less<>> function_names(std::span<const uint32_t> module);

// What a device promises of its arithmetic, where its properties (VkPhysicalDeviceFloatControlsProperties) say that it
// can, by widths of floating-point types, 16, 32, 64.
struct FloatControls {
  std::vector<uint32_t> denorm_preserve, signed_zero_inf_nan_preserve, rounding_mode_rte;
};
// A module that asks for them.
std::vector<uint32_t> with_float_controls(std::span<const uint32_t> module, const FloatControls& controls);

}  // namespace ferrule::vulkan
