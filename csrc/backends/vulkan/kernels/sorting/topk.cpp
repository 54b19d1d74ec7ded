// The k greatest or least elements along an axis.
#include <ferrule/ops.h>

#include <bit>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout kept;
  int64_t rows, length, stride, k, inner, padded;
  uint32_t values, indices;
};
static_assert(offsetof(Parameters, values) == sizeof(Layout) + 48);

Plan plan_topk(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const auto& attributes = node.attributes<fe_topk_attributes>();
  const sdk::Operand x = node.input(0), values = node.output(0), indices = node.output(1);
  const auto at = static_cast<size_t>(attributes.axis);
  const int64_t length = x.shape()[at], k = attributes.k;
  if (k < 0 || k > length || values.rank() != x.rank() || indices.rank() != x.rank())
    return refusal("the outputs have other shapes");
  for (size_t axis = 0; axis < x.shape().size(); ++axis)
    for (const sdk::Operand& out : {values, indices})
      if (out.shape()[axis] != (axis == at ? k : x.shape()[axis])) return refusal("the outputs have other shapes");
  if (length > INT32_MAX) return refusal("it counts elements of a row in 32 bits");
  Plan plan = plan_named("topk." + abbreviation_of(x));
  if (values.count() == 0) return plan;
  std::vector<int64_t> shape, strides;
  int64_t inner = 1;
  for (size_t axis = 0; axis < x.shape().size(); ++axis) {
    if (axis == at) continue;
    shape.push_back(x.shape()[axis]);
    strides.push_back(x.strides()[axis]);
    if (axis > at) inner *= x.shape()[axis];
  }
  const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(k)));
  const Parameters p = {.kept = layout_of(node.input_value(0), shape, strides),
                        .rows = values.count() / k,
                        .length = length,
                        .stride = x.strides()[at],
                        .k = k,
                        .inner = inner,
                        .padded = padded,
                        .values = node.output_value(0),
                        .indices = node.output_value(1)};
  const uint32_t workgroup = std::min(256u, std::bit_floor(capabilities.max_workgroup));
  Dispatch dispatch =
      dispatch_of(plan.support.kernel, p, {p.kept.value, scratch_value}, p.values, {attributes.largest != 0 ? 0u : 1u});
  dispatch.writes = {p.values, p.indices, scratch_value};
  set_grid(dispatch, static_cast<uint64_t>(p.rows) * workgroup, capabilities, workgroup);
  plan.launches.push_back(std::move(dispatch));
  plan.scratch = static_cast<uint64_t>(p.rows * padded) * 2 * std::max<size_t>(4, x.item_size());
  return plan;
}

}  // namespace

KERNEL(topk, plan_topk)

}  // namespace ferrule::vulkan
