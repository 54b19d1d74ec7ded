// What a node becomes on a device: dispatches of compiled shaders.
#pragma once

#include <ferrule/backend.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ferrule::vulkan {

// What kernels may rely on, beyond what every device of ours has (see device/physical_device.h).
struct Capabilities {
  bool float16 = false;  // arithmetic; every device stores halves
  bool float64 = false;
  uint32_t subgroup_size = 1;  // a power of two; 1 unless subgroups can be asked to be full, and shuffle
  // By which variant of matmul_cooperative.comp float16 matrices are multiplied: "khr" or "simulated"; empty: by none.
  std::string_view cooperative_matrices = {};
  uint32_t shared_memory = 16384;  // bytes of one workgroup
  uint32_t max_workgroup = 128;    // invocations of one workgroup
  std::array<uint32_t, 3> max_groups = {65535, 65535, 65535};
};

// A part of memory that a dispatch touches: values of the view by index, and the node's scratch.
inline constexpr uint32_t scratch_value = UINT32_MAX;

// One call of straight-line code that is spliced into a shader (pipelines/splice.h): result = function(arguments...).
// Arguments are results of earlier calls, or literals.
struct Call {
  struct Argument {
    bool is_literal;
    uint32_t value;  // the literal, a uint of the shader; or the number of an earlier call
  };
  std::string function;  // by its name in the GLSL source
  std::vector<Argument> arguments;
};

// One shader run over a grid. `parameters` is the shader's own struct, in scalar layout, which it finds at the address
// `push.parameters`; operands stand in it as indices of the address table `push.addresses` (kernels/shader_interface.glsl).
struct Dispatch {
  std::string shader = {};               // "take.u32": kernels/movement/take.comp for that variant
  std::vector<uint32_t> constants = {};  // specialisation constants 0, 1, 2, ...; 0, 1, 2 are the workgroup's size
  bool has_full_subgroups = false;       // which the shader relies on
  std::vector<Call> calls = {};          // replaces the body of the shader's function `spliced`, when there are any
  std::vector<std::byte> parameters = {};
  std::array<uint32_t, 3> groups = {1, 1, 1};
  std::vector<uint32_t> reads = {}, writes = {};  // values of the view, or scratch_value

  template <class Struct>
  void set_parameters(const Struct& from) {
    static_assert(std::is_trivially_copyable_v<Struct>);
    parameters.resize(sizeof(Struct));
    std::memcpy(parameters.data(), &from, sizeof(Struct));
  }
};

struct Plan {
  sdk::Support support = {};
  std::vector<Dispatch> dispatches = {};
  uint64_t scratch = 0;  // bytes that the dispatches share, gone after the node
};

inline Plan refusal(std::string reason) { return {.support = {.supported = false, .reason = std::move(reason)}}; }

// A node with its operands' indices in the view, which are those of the address table.
class PlannedNode : public sdk::Node {
 public:
  using Node::Node;
  uint32_t input_value(uint32_t i) const { return view().nodes[index()]->inputs[i]; }
  uint32_t output_value(uint32_t i) const { return view().nodes[index()]->outputs[i]; }
};

// A row of the table that is generated from the KERNEL lines of the files of kernels/.
struct Kernel {
  std::string_view op;  // of csrc/ops
  // Asked both whether a node is supported and for what it becomes, so that the two cannot disagree.
  Plan (*plan)(const PlannedNode& node, const Capabilities& capabilities);
};

// From the table of kernels; null when there is none.
const Kernel* find_kernel(std::string_view op);

}  // namespace ferrule::vulkan

// KERNEL(take, plan_take): the op `take` becomes what the function says. Defines a constant, and registers nothing.
#define KERNEL(op_name, function)                          \
  extern const ::ferrule::vulkan::Kernel kernel_##op_name; \
  constexpr ::ferrule::vulkan::Kernel kernel_##op_name = {.op = #op_name, .plan = function};
