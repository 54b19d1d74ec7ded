// Cumulative sums and products along an axis.
#include <ferrule/ops.h>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

enum Task : uint32_t { totals = 0, accumulated_totals = 1, results = 2, next_results = 3 };  // TASK of cumulative.comp

// Part of the definition of a sum: another number gives other bits.
constexpr int64_t segment_length = 256;
// The steps of an invocation that has no end in sight: lavapipe stops an invocation's loops after 65,535 iterations,
// and drivers stop a dispatch that takes seconds.
constexpr int64_t most_steps = 16384, most_dispatches = 256;

struct Parameters {
  Layout outer, inner;
  int64_t count, inner_count, segments, length, stride, segment, first, stop, initial;
  uint32_t to;
};
static_assert(offsetof(Parameters, to) == 2 * sizeof(Layout) + 72);

// Sums and products have the same attributes.
static_assert(sizeof(fe_cumulative_sum_attributes) == sizeof(fe_cumulative_prod_attributes));

Plan plan_cumulative(const PlannedNode& node, bool is_product, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const auto& attributes = node.attributes<fe_cumulative_sum_attributes>();
  const sdk::Operand x = node.input(0), out = node.output(0);
  const bool is_whole = x.is("int64") || x.is("uint64");
  if (x.dtype() != out.dtype() || x.rank() != out.rank()) return refusal("the operands differ in dtype or rank");
  if (!is_whole && !is_floating(x)) return refusal("it accumulates no elements of this dtype");
  if (x.is("float64") && !capabilities.float64) return refusal("the device has no float64");
  Plan plan = plan_named("cumulative." + (is_whole ? std::string("i64") : abbreviation_of(x)));
  if (out.count() == 0) return plan;

  const auto at = static_cast<size_t>(attributes.axis);
  const uint32_t value = node.input_value(0);
  const int64_t length = x.shape()[at], initial = attributes.include_initial != 0 ? 1 : 0;
  const int64_t rows = out.count() / (length + initial);
  const bool in_order = is_product && !is_whole;
  const int64_t segment = in_order ? most_steps : segment_length,
                segments = std::max<int64_t>(1, quotient_up(length, segment));
  if (quotient_up(segments, in_order ? 1 : most_steps) > most_dispatches) return refusal("a row is too long");
  Parameters p = {.outer = layout_of(value, x.shape().first(at), x.strides().first(at)),
                  .inner = layout_of(value, x.shape().subspan(at + 1), x.strides().subspan(at + 1)),
                  .count = 0,
                  .inner_count = product_of(x.shape().subspan(at + 1)),
                  .segments = in_order ? 1 : segments,
                  .length = length,
                  .stride = x.strides()[at],
                  .segment = segment,
                  .first = 0,
                  .stop = 0,
                  .initial = initial,
                  .to = node.output_value(0)};
  const auto add = [&](Task task, int64_t count, std::vector<uint32_t> reads, uint32_t writes) {
    p.count = count;
    plan.launches.push_back(
        dispatch_of(plan.support.kernel, p, std::move(reads), writes, {task, is_product ? 1u : 0u}));
    set_grid(plan.launches.back(), static_cast<uint64_t>(count), capabilities);
  };
  if (in_order || segments > 1)
    plan.scratch = static_cast<uint64_t>(rows * p.segments) * (is_whole || x.is("float64") ? 8 : 4);
  if (in_order) {
    for (; p.first < segments; ++p.first) {
      add(next_results, rows, {value, scratch_value}, p.to);
      plan.launches.back().writes.push_back(scratch_value);
    }
    return plan;
  }
  if (segments > 1) {
    add(totals, rows * segments, {value}, scratch_value);
    for (p.first = 1; p.first < segments; p.first = p.stop) {
      p.stop = std::min(segments, p.first + most_steps);
      add(accumulated_totals, rows, {scratch_value}, scratch_value);
    }
  }
  add(results, rows * segments, {value, scratch_value}, p.to);
  return plan;
}

Plan plan_cumulative_sum(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_cumulative(node, false, capabilities);
}
Plan plan_cumulative_prod(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_cumulative(node, true, capabilities);
}

}  // namespace

KERNEL(cumulative_sum, plan_cumulative_sum)
KERNEL(cumulative_prod, plan_cumulative_prod)

}  // namespace ferrule::vulkan
