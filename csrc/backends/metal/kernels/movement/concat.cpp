// Joins arrays along an axis, with one dispatch per array.
#include <ferrule/ops.h>

#include "kernels/movement/movement_plan.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout from;
  uint64_t count, row, to_row, start;
};

Plan plan_concat(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand out = node.output(0);
  if (out.dtype_info().block_elements != 1) return refusal("it joins no blocks");
  const auto axis = static_cast<size_t>(node.attributes<fe_concat_attributes>().axis);
  const auto inner = static_cast<uint64_t>(product_of(out.shape().subspan(axis + 1)));
  Plan plan = plan_named("concat");
  const std::string definitions = item_definition(out);
  uint64_t start = 0;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    const sdk::Operand x = node.input(i);
    if (x.dtype() != out.dtype()) return refusal("the arrays differ in dtype");
    const auto count = static_cast<uint64_t>(x.count());
    const uint64_t row = static_cast<uint64_t>(x.shape()[axis]) * inner;
    const Parameters p = {.from = layout_of(x),
                          .count = count,
                          .row = row,
                          .to_row = static_cast<uint64_t>(out.shape()[axis]) * inner,
                          .start = start};
    if (count > 0)
      plan.launches.push_back(
          movement_dispatch("concat", "concat", definitions, p, {node.input_value(i)}, {node.output_value(0)}, count));
    start += row;
  }
  return plan;
}

}  // namespace

KERNEL(concat, plan_concat)

}  // namespace ferrule::metal
