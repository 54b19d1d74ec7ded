// Elements at indices along an axis: one index for all of a slice, or one for each element.
#include <ferrule/ops.h>

#include "kernels/block_formats.h"
#include "kernels/movement/movement_plan.h"

namespace ferrule::metal {
namespace {

struct Take {
  Layout outer, inner, indices;
  uint64_t count, inner_count, index_count;
  int64_t size, stride, axis;
  uint32_t result, unused;
};
struct TakeAlongAxis {
  Layout others, indices;
  uint64_t count;
  int64_t size, stride, axis;
  uint32_t result, unused;
};

Plan plan_take(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), indices = node.input(1), out = node.output(0);
  if (x.dtype() != out.dtype()) return refusal("the operands differ in dtype");
  if (!are_indices(indices)) return refusal("the indices are neither int32 nor int64");
  Plan plan = plan_named("take");
  const sdk::BlockWords words(x.dtype_info());
  if (is_block(x)) plan.support.row_inputs = {0};
  const std::string definitions =
      (is_block(x) ? item_definition(words) : item_definition(out)) + index_definition(indices);
  if (out.count() == 0) return plan;
  const int64_t axis = node.attributes<fe_take_attributes>().axis;
  const auto at = static_cast<size_t>(axis);
  const sdk::BlockItems items(x, words.count);
  const std::span<const int64_t> shape = items.shape, strides = items.strides;
  const auto inner_count = static_cast<uint64_t>(product_of(shape.subspan(at + 1)));
  const auto index_count = static_cast<uint64_t>(indices.count());
  const uint64_t count = static_cast<uint64_t>(product_of(shape.first(at))) * index_count * inner_count;
  const Take p = {.outer = layout_of(shape.first(at), strides.first(at)),
                  .inner = layout_of(shape.subspan(at + 1), strides.subspan(at + 1)),
                  .indices = layout_of(indices),
                  .count = count,
                  .inner_count = inner_count,
                  .index_count = index_count,
                  .size = shape[at],
                  .stride = strides[at],
                  .axis = axis,
                  .result = node.output_value(0),
                  .unused = 0};
  plan.launches.push_back(
      movement_dispatch("take", "take", definitions, p, {node.input_value(0), node.input_value(1)}, {p.result}, count));
  return plan;
}

Plan plan_take_along_axis(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), indices = node.input(1), out = node.output(0);
  if (x.dtype() != out.dtype() || x.rank() != indices.rank() || x.rank() != out.rank())
    return refusal("the operands differ in dtype or rank");
  if (!are_indices(indices)) return refusal("the indices are neither int32 nor int64");
  Plan plan = plan_named("take_along_axis");
  const std::string definitions = item_definition(out) + index_definition(indices);
  if (out.count() == 0) return plan;
  const int64_t axis = node.attributes<fe_take_along_axis_attributes>().axis;
  const auto at = static_cast<size_t>(axis);
  std::vector<int64_t> strides(x.strides().begin(), x.strides().end());
  strides[at] = 0;
  const auto count = static_cast<uint64_t>(out.count());
  const TakeAlongAxis p = {.others = layout_of(out.shape(), strides),
                           .indices = layout_of(indices),
                           .count = count,
                           .size = x.shape()[at],
                           .stride = x.strides()[at],
                           .axis = axis,
                           .result = node.output_value(0),
                           .unused = 0};
  plan.launches.push_back(movement_dispatch("take_along_axis", "take_along_axis", definitions, p,
                                            {node.input_value(0), node.input_value(1)}, {p.result}, count));
  return plan;
}

}  // namespace

KERNEL(take, plan_take)
KERNEL(take_along_axis, plan_take_along_axis)

}  // namespace ferrule::metal
