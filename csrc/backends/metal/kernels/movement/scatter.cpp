// Values in the place of the elements at indices along an axis, or along several axes as if they were one.
#include <ferrule/ops.h>

#include <algorithm>

#include "kernels/movement/movement_plan.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout values, indices, outer, axis, inner;
  uint64_t count, inner_count, index_count;
  int64_t size, number_of_axis;
  uint32_t result, unused;
};

std::optional<std::string> refused_operands(const PlannedNode& node, size_t from, size_t behind) {
  const sdk::Operand x = node.input(0), indices = node.input(1), values = node.input(2), out = node.output(0);
  if (x.dtype() != out.dtype() || values.dtype() != out.dtype()) return "the operands differ in dtype";
  if (!are_indices(indices)) return "the indices are neither int32 nor int64";
  if (behind > x.shape().size() || from >= behind || indices.rank() != 1) return "the operands differ in rank";
  std::vector<int64_t> expected(x.shape().begin(), x.shape().begin() + static_cast<ptrdiff_t>(from));
  expected.push_back(indices.shape()[0]);
  expected.insert(expected.end(), x.shape().begin() + static_cast<ptrdiff_t>(behind), x.shape().end());
  if (!std::ranges::equal(out.shape(), x.shape()) || !std::ranges::equal(values.shape(), expected))
    return "the operands differ in shape";
  if (indices.count() >= INT32_MAX) return "it counts indices in 32 bits";
  return std::nullopt;
}

Plan plan_scatter(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const auto& attributes = node.attributes<fe_scatter_attributes>();
  const auto from = static_cast<size_t>(attributes.axis), joined = static_cast<size_t>(attributes.joined);
  if (const auto reason = refused_operands(node, from, from + joined)) return refusal(*reason);
  const sdk::Operand indices = node.input(1), values = node.input(2), out = node.output(0);
  Plan plan = plan_named("scatter");
  const uint32_t result = node.output_value(0);
  const auto part = [&](size_t begin, size_t count) {
    return layout_of(out.shape().subspan(begin, count), out.strides().subspan(begin, count));
  };
  const size_t behind = from + joined, rest = out.shape().size() - behind;
  Parameters p = {.values = layout_of(values),
                  .indices = layout_of(indices),
                  .outer = part(0, from),
                  .axis = part(from, joined),
                  .inner = part(behind, rest),
                  .count = 0,
                  .inner_count = static_cast<uint64_t>(product_of(out.shape().subspan(behind))),
                  .index_count = static_cast<uint64_t>(indices.count()),
                  .size = product_of(out.shape().subspan(from, joined)),
                  .number_of_axis = attributes.axis,
                  .result = result,
                  .unused = 0};
  const std::string definitions = item_definition(out) + index_definition(indices);
  const auto add = [&](const char* function, uint64_t count, std::vector<uint32_t> reads, uint32_t writes) {
    p.count = count;
    if (count > 0)
      plan.launches.push_back(
          movement_dispatch("scatter", function, definitions, p, std::move(reads), {writes}, count));
  };
  add_copy(plan, node, item_definition(out));
  if (p.index_count == 0) return plan;
  add("clear_notes", static_cast<uint64_t>(p.size) + 1, {}, scratch_value);
  add("note_last", p.index_count, {node.input_value(1)}, scratch_value);
  add("write_values", static_cast<uint64_t>(values.count()), {node.input_value(2), node.input_value(1), scratch_value},
      result);
  plan.scratch = (static_cast<uint64_t>(p.size) + 1) * 4;
  return plan;
}

}  // namespace

KERNEL(scatter, plan_scatter)

}  // namespace ferrule::metal
