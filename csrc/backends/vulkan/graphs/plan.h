// The plan of a node: dispatches of compiled shaders.
#pragma once

#include <ferrule/backend.hpp>

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
