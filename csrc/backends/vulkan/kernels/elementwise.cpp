// Elementwise ops, single and fused. Each op is a function of kernels/elementwise/ that is called for every element,
// and needs no KERNEL line.
#include "elementwise.h"

#include "planning.h"

namespace ferrule::vulkan {

Plan plan_body(Body body, const PlannedNode& node, const Capabilities& capabilities) {
  if (body.uses_float64 && !capabilities.float64) return refusal("the device has no float64");
  const auto count = static_cast<uint64_t>(node.output(0).count());
  Dispatch dispatch =
      dispatch_of(body.uses_float64 ? "elementwise.f64" : "elementwise.basic", count, {}, node.output_value(0));
  set_grid(dispatch, count, capabilities);
  finish_with(std::move(body), dispatch);
  Plan plan;
  plan.launches.push_back(std::move(dispatch));
  return plan;
}

Plan plan_elementwise(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_body(body_of(node), node, capabilities);
}

KERNEL(fused, plan_elementwise)

}  // namespace ferrule::vulkan
