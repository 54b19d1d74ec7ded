// iota: 0, 1, 2, ...
#include <ferrule/ops.h>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  int64_t count;
  uint32_t to;
};
static_assert(offsetof(Parameters, to) == 8);

Plan plan_iota(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand out = node.output(0);
  Plan plan = plan_named(is_floating(out) ? "iota." + abbreviation_of(out) : by_item_size("iota", out));
  if (out.count() == 0) return plan;
  const Parameters p = {.count = out.count(), .to = node.output_value(0)};
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, {}, p.to));
  set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
  return plan;
}

}  // namespace

KERNEL(iota, plan_iota)

}  // namespace ferrule::vulkan
