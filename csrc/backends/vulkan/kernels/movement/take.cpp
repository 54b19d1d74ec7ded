// Elements at indices along an axis.
#include <ferrule/cpp/block_items.hpp>
#include <ferrule/ops.h>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout outer, inner, indices;
  int64_t count, inner_count, index_count, size, stride, axis;
  uint32_t to;
};
static_assert(offsetof(Parameters, to) == 3 * sizeof(Layout) + 48);

Plan plan_take(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), indices = node.input(1), out = node.output(0);
  if (x.dtype() != out.dtype()) return refusal("the operands differ in dtype");
  if (!indices.is("int32") && !indices.is("int64")) return refusal("the indices are neither int32 nor int64");
  const bool is_block = x.dtype_info().block_elements != 1;
  const sdk::BlockWords words(x.dtype_info());
  Plan plan = plan_named(!is_block ? by_item_size("take", out) : words.bytes == 2 ? "take.u16" : "take.u8");
  if (is_block) plan.support.row_inputs = {0};
  if (out.count() == 0) return plan;
  const int64_t axis = node.attributes<fe_take_attributes>().axis;
  const auto at = static_cast<size_t>(axis);
  const sdk::BlockItems items(x, words.count);
  const std::span<const int64_t> shape = items.shape, strides = items.strides;
  const int64_t inner_count = product_of(shape.subspan(at + 1));
  const uint32_t value = node.input_value(0);
  const Parameters p = {.outer = layout_of(value, shape.first(at), strides.first(at)),
                        .inner = layout_of(value, shape.subspan(at + 1), strides.subspan(at + 1)),
                        .indices = layout_of(node.input_value(1), indices),
                        .count = product_of(shape.first(at)) * indices.count() * inner_count,
                        .inner_count = inner_count,
                        .index_count = indices.count(),
                        .size = shape[at],
                        .stride = strides[at],
                        .axis = axis,
                        .to = node.output_value(0)};
  const auto bytes = static_cast<uint32_t>(indices.item_size());
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, {value, p.indices.value}, p.to, {bytes}));
  set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
  return plan;
}

}  // namespace

KERNEL(take, plan_take)

}  // namespace ferrule::vulkan
