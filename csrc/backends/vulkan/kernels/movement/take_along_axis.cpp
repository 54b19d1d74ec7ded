// Elements at indices along an axis, with one index for each element of the result.
#include <ferrule/ops.h>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout others, indices;
  int64_t count, size, stride, axis;
  uint32_t to;
};
static_assert(offsetof(Parameters, to) == 2 * sizeof(Layout) + 32);

Plan plan_take_along_axis(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), indices = node.input(1), out = node.output(0);
  if (x.dtype() != out.dtype() || x.rank() != indices.rank() || x.rank() != out.rank())
    return refusal("the operands differ in dtype or rank");
  if (!indices.is("int32") && !indices.is("int64")) return refusal("the indices are neither int32 nor int64");
  Plan plan = plan_named(by_item_size("take_along_axis", out));
  if (out.count() == 0) return plan;
  const int64_t axis = node.attributes<fe_take_along_axis_attributes>().axis;
  const auto at = static_cast<size_t>(axis);
  std::vector<int64_t> strides(x.strides().begin(), x.strides().end());
  strides[at] = 0;
  const Parameters p = {.others = layout_of(node.input_value(0), out.shape(), strides),
                        .indices = layout_of(node.input_value(1), indices),
                        .count = out.count(),
                        .size = x.shape()[at],
                        .stride = x.strides()[at],
                        .axis = axis,
                        .to = node.output_value(0)};
  const auto bytes = static_cast<uint32_t>(indices.item_size());
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, {p.others.value, p.indices.value}, p.to, {bytes}));
  set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
  return plan;
}

}  // namespace

KERNEL(take_along_axis, plan_take_along_axis)

}  // namespace ferrule::vulkan
