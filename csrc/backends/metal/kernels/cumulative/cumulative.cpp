// Cumulative sums and products along an axis.
#include <ferrule/ops.h>

#include "kernels/movement/movement_plan.h"

namespace ferrule::metal {
namespace {

// Part of the definition of a sum: another number gives other bits.
constexpr int64_t segment_length = 256;
constexpr uint64_t max_scratch = uint64_t{1} << 30;

struct Parameters {
  Layout outer, inner;
  uint64_t rows, inner_count, segments, length, segment, initial;
  int64_t stride;
};

// Sums and products have the same attributes.
static_assert(sizeof(fe_cumulative_sum_attributes) == sizeof(fe_cumulative_prod_attributes));

Plan plan_cumulative(const PlannedNode& node, bool is_product) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const auto& attributes = node.attributes<fe_cumulative_sum_attributes>();
  const sdk::Operand x = node.input(0), out = node.output(0);
  const bool is_whole = x.is("int64") || x.is("uint64");
  if (x.dtype() != out.dtype() || x.rank() != out.rank()) return refusal("the operands differ in dtype or rank");
  if (!is_whole && !computes_in_float(x))
    return refusal("it accumulates floating-point numbers of up to 32 bits and integers of 64");
  Plan plan = plan_named("cumulative");
  if (out.count() == 0) return plan;

  const auto at = static_cast<size_t>(attributes.axis);
  const int64_t length = x.shape()[at], initial = attributes.include_initial != 0 ? 1 : 0;
  const bool is_in_order = is_product && !is_whole;
  const int64_t segment = is_in_order ? std::max<int64_t>(1, length) : segment_length;
  const Parameters p = {.outer = layout_of(x.shape().first(at), x.strides().first(at)),
                        .inner = layout_of(x.shape().subspan(at + 1), x.strides().subspan(at + 1)),
                        .rows = static_cast<uint64_t>(out.count() / (length + initial)),
                        .inner_count = static_cast<uint64_t>(product_of(x.shape().subspan(at + 1))),
                        .segments = static_cast<uint64_t>(std::max<int64_t>(1, quotient_up(length, segment))),
                        .length = static_cast<uint64_t>(length),
                        .segment = static_cast<uint64_t>(segment),
                        .initial = static_cast<uint64_t>(initial),
                        .stride = x.strides()[at]};
  const Format& format = formats().of(x.dtype());
  const bool has_totals = p.segments > 1;
  const std::string definitions = "#include \"elementwise/arithmetic.metal\"\n" +
                                  type_definition("Stored", format.stored) + type_definition("Value", format.computed) +
                                  element_access(format) + element_store(format) +
                                  definition("IS_PRODUCT", is_product) + definition("HAS_TOTALS", has_totals);
  const auto add = [&](const std::string& function, uint64_t count, std::vector<uint32_t> reads, uint32_t writes) {
    plan.launches.push_back(
        kernel_dispatch("cumulative/cumulative", function, definitions, p, std::move(reads), {writes}, count));
  };
  const uint32_t value = node.input_value(0), to = node.output_value(0);
  if (!has_totals) {
    add("cumulative", p.rows, {value}, to);
    return plan;
  }
  plan.scratch = p.rows * p.segments * (is_whole ? 8 : 4);
  if (plan.scratch > max_scratch) return refusal("the array is too large");
  add("segment_totals", p.rows * p.segments, {value}, scratch_value);
  add("accumulate_totals", p.rows, {}, scratch_value);
  add("cumulative", p.rows * p.segments, {value, scratch_value}, to);
  return plan;
}

Plan plan_cumulative_sum(const PlannedNode& node, const Capabilities&) { return plan_cumulative(node, false); }
Plan plan_cumulative_prod(const PlannedNode& node, const Capabilities&) { return plan_cumulative(node, true); }

}  // namespace

KERNEL(cumulative_sum, plan_cumulative_sum)
KERNEL(cumulative_prod, plan_cumulative_prod)

}  // namespace ferrule::metal
