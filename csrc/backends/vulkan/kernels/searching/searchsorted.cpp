// The places of elements in a sorted array.
#include <ferrule/ops.h>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout wanted;
  int64_t count, size, stride;
  uint32_t sorted, to;
};
static_assert(offsetof(Parameters, sorted) == sizeof(Layout) + 24);

Plan plan_searchsorted(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand sorted = node.input(0), wanted = node.input(1), out = node.output(0);
  if (sorted.rank() != 1 || sorted.dtype() != wanted.dtype() || !out.is("int64") || out.count() != wanted.count())
    return refusal("the operands differ in dtype or shape");
  Plan plan = plan_named("searchsorted." + abbreviation_of(sorted));
  if (out.count() == 0) return plan;
  const Parameters p = {.wanted = layout_of(node.input_value(1), wanted),
                        .count = out.count(),
                        .size = sorted.shape()[0],
                        .stride = sorted.strides()[0],
                        .sorted = node.input_value(0),
                        .to = node.output_value(0)};
  const std::string_view side = node.attributes<fe_searchsorted_attributes>().side;
  plan.launches.push_back(
      dispatch_of(plan.support.kernel, p, {p.sorted, p.wanted.value}, p.to, {side == "right" ? 1u : 0u}));
  set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
  return plan;
}

}  // namespace

KERNEL(searchsorted, plan_searchsorted)

}  // namespace ferrule::vulkan
