// Joins arrays along an axis, with one dispatch per array.
#include <ferrule/ops.h>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout from;
  int64_t count, row, to_row, start;
  uint32_t to;
};
static_assert(offsetof(Parameters, to) == sizeof(Layout) + 32);

Plan plan_concat(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand out = node.output(0);
  if (out.dtype_info().block_elements != 1) return refusal("it joins no blocks");
  const auto axis = static_cast<size_t>(node.attributes<fe_concat_attributes>().axis);
  int64_t inner = 1;
  for (size_t k = axis + 1; k < out.shape().size(); ++k) inner *= out.shape()[k];
  Plan plan = plan_named(by_item_size("concat", out));
  int64_t start = 0;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    const sdk::Operand x = node.input(i);
    if (x.dtype() != out.dtype()) return refusal("the arrays differ in dtype");
    const int64_t row = x.shape()[axis] * inner;
    if (x.count() > 0) {
      const Parameters p = {.from = layout_of(node.input_value(i), x),
                            .count = x.count(),
                            .row = row,
                            .to_row = out.shape()[axis] * inner,
                            .start = start,
                            .to = node.output_value(0)};
      plan.launches.push_back(dispatch_of(plan.support.kernel, p, {p.from.value}, p.to));
      set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
    }
    start += row;
  }
  return plan;
}

}  // namespace

KERNEL(concat, plan_concat)

}  // namespace ferrule::vulkan
