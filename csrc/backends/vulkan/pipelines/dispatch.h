// One dispatch of a compiled shader.
#pragma once

#include <ferrule/cpp/dispatches.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ferrule::vulkan {

// The memory that a dispatch accesses: values of the graph view by index, and the node's scratch.
inline constexpr uint32_t scratch_value = sdk::Hazards::scratch;

// One call of straight-line code that is spliced into a shader (splice.h): result = function(arguments...).
// Arguments are results of earlier calls, or literals.
struct Call {
  struct Argument {
    bool is_literal;
    uint32_t value;  // a literal, which is a uint in the shader, or the number of an earlier call
  };
  std::string function;  // its name in the GLSL source
  std::vector<Argument> arguments;
};

// One shader and its grid. `parameters` is the shader's own struct in scalar layout, at the address `push.parameters`.
// Operands in it are indices of the address table `push.addresses` (kernels/shader_interface.glsl).
struct Dispatch : sdk::Dispatch {
  std::string shader = {};               // "take.u32": the variant u32 of kernels/movement/take.comp
  std::vector<uint32_t> constants = {};  // specialisation constants; 0, 1, 2 are the workgroup's size
  bool has_full_subgroups = false;       // the shader requires them
  std::vector<Call> calls = {};          // if not empty, replaces the body of the shader's function `spliced`
};

}  // namespace ferrule::vulkan
