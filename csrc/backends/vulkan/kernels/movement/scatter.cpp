// Values in the place of the elements at indices along an axis, or along several axes as if they were one.
#include <ferrule/ops.h>

#include <cstddef>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

enum Task : uint32_t { copy_x = 0, clear_notes = 1, note_last = 2, write_values = 3 };  // TASK of scatter.comp

struct Parameters {
  Layout x, values, indices, whole, outer, axis, inner;
  int64_t count, inner_count, index_count, size, number_of_axis;
};
static_assert(offsetof(Parameters, count) == 7 * sizeof(Layout));

std::optional<std::string> refused_operands(const PlannedNode& node, size_t from, size_t behind) {
  const sdk::Operand x = node.input(0), indices = node.input(1), values = node.input(2), out = node.output(0);
  if (x.dtype() != out.dtype() || values.dtype() != out.dtype()) return "the operands differ in dtype";
  if (!indices.is("int32") && !indices.is("int64")) return "the indices are neither int32 nor int64";
  if (behind > x.shape().size() || from >= behind || indices.rank() != 1) return "the operands differ in rank";
  std::vector<int64_t> expected(x.shape().begin(), x.shape().begin() + static_cast<ptrdiff_t>(from));
  expected.push_back(indices.shape()[0]);
  expected.insert(expected.end(), x.shape().begin() + static_cast<ptrdiff_t>(behind), x.shape().end());
  if (!std::ranges::equal(out.shape(), x.shape()) || !std::ranges::equal(values.shape(), expected))
    return "the operands differ in shape";
  if (indices.count() >= INT32_MAX) return "it counts indices in 32 bits";
  return std::nullopt;
}

Plan plan_scatter(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const auto& attributes = node.attributes<fe_scatter_attributes>();
  const auto from = static_cast<size_t>(attributes.axis), joined = static_cast<size_t>(attributes.joined);
  if (const auto reason = refused_operands(node, from, from + joined)) return refusal(*reason);
  const sdk::Operand x = node.input(0), indices = node.input(1), values = node.input(2), out = node.output(0);
  Plan plan = plan_named(by_item_size("scatter", out));
  const uint32_t result = node.output_value(0);
  const auto part = [&](size_t begin, size_t count) {
    return layout_of(result, out.shape().subspan(begin, count), out.strides().subspan(begin, count));
  };
  const size_t behind = from + joined, rest = out.shape().size() - behind;
  Parameters p = {.x = layout_of(node.input_value(0), x),
                  .values = layout_of(node.input_value(2), values),
                  .indices = layout_of(node.input_value(1), indices),
                  .whole = layout_of(result, out),
                  .outer = part(0, from),
                  .axis = part(from, joined),
                  .inner = part(behind, rest),
                  .count = 0,
                  .inner_count = product_of(out.shape().subspan(behind)),
                  .index_count = indices.count(),
                  .size = product_of(out.shape().subspan(from, joined)),
                  .number_of_axis = attributes.axis};
  const auto bytes = static_cast<uint32_t>(indices.item_size());
  const auto add = [&](Task task, int64_t count, std::vector<uint32_t> reads, uint32_t writes) {
    p.count = count;
    if (count == 0) return;
    plan.launches.push_back(dispatch_of(plan.support.kernel, p, std::move(reads), writes, {task, bytes}));
    set_grid(plan.launches.back(), static_cast<uint64_t>(count), capabilities);
  };
  add(copy_x, out.count(), {p.x.value}, result);
  if (p.index_count == 0) return plan;
  add(clear_notes, p.size + 1, {}, scratch_value);
  add(note_last, p.index_count, {p.indices.value, scratch_value}, scratch_value);
  add(write_values, values.count(), {p.values.value, p.indices.value, scratch_value}, result);
  plan.scratch = static_cast<uint64_t>(p.size + 1) * 4;
  return plan;
}

}  // namespace

KERNEL(scatter, plan_scatter)

}  // namespace ferrule::vulkan
