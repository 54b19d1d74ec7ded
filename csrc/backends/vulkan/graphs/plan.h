// The plan of a node: dispatches of compiled shaders.
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

// Features that kernels may use, beyond those that every device has (device/physical_device.h).
struct Capabilities {
  bool float16 = false;  // float16 arithmetic; every device can store halves
  bool float64 = false;
  uint32_t subgroup_size = 1;  // a power of two; 1 if the device lacks full subgroups or shuffles
  // The variant of matmul_cooperative.comp that multiplies float16 matrices: "khr" or "simulated"; empty: none.
  std::string_view cooperative_matrices = {};
  uint32_t shared_memory = 16384;  // per workgroup
  uint32_t max_workgroup = 128;    // invocations per workgroup
  std::array<uint32_t, 3> max_groups = {65535, 65535, 65535};
};

// The memory that a dispatch accesses: values of the graph view by index, and the node's scratch.
inline constexpr uint32_t scratch_value = UINT32_MAX;

// One call of straight-line code that is spliced into a shader (pipelines/splice.h): result = function(arguments...).
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
struct Dispatch {
  std::string shader = {};               // "take.u32": the variant u32 of kernels/movement/take.comp
  std::vector<uint32_t> constants = {};  // specialisation constants; 0, 1, 2 are the workgroup's size
  bool has_full_subgroups = false;       // the shader requires them
  std::vector<Call> calls = {};          // if not empty, replaces the body of the shader's function `spliced`
  std::vector<std::byte> parameters = {};
  std::array<uint32_t, 3> groups = {1, 1, 1};
  std::vector<uint32_t> reads = {}, writes = {};  // values of the graph view, or scratch_value

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
  uint64_t scratch = 0;  // bytes that the node's dispatches share; freed after the node
};

inline Plan refusal(std::string reason) { return {.support = {.supported = false, .reason = std::move(reason)}}; }

// A node with the indices of its operands in the view and in the address table.
class PlannedNode : public sdk::Node {
 public:
  using Node::Node;
  uint32_t input_value(uint32_t i) const { return view().nodes[index()]->inputs[i]; }
  uint32_t output_value(uint32_t i) const { return view().nodes[index()]->outputs[i]; }
};

// A row of the table that is generated from the KERNEL lines of the files of kernels/.
struct Kernel {
  std::string_view op;  // of csrc/ops
  // Used both to decide whether a node is supported and to plan it, so that the two cannot disagree.
  Plan (*plan)(const PlannedNode& node, const Capabilities& capabilities);
};

// The kernel of an op; null if there is none.
const Kernel* find_kernel(std::string_view op);

}  // namespace ferrule::vulkan

// KERNEL(take, plan_take): `plan_take` plans the op `take`. Only defines a constant; the table lists it.
#define KERNEL(op_name, function)                          \
  extern const ::ferrule::vulkan::Kernel kernel_##op_name; \
  constexpr ::ferrule::vulkan::Kernel kernel_##op_name = {.op = #op_name, .plan = function};
