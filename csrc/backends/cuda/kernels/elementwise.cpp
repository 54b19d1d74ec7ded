// Elementwise ops, single and fused. Each op is a function of kernels/elementwise/, and needs no KERNEL line.
#include "kernels/elementwise_plan.h"

#include "graphs/elementwise_body.h"

namespace ferrule::cuda {

Plan plan_elementwise(const PlannedNode& node, const Capabilities&) {
  const Body body = body_of(node);
  Plan plan;
  if (body.count != 0) plan.launches.push_back(launch_of(body));
  return plan;
}

KERNEL(fused, plan_elementwise)

}  // namespace ferrule::cuda
