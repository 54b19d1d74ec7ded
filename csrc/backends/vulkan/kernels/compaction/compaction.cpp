// Ops that keep, or replace, the elements that a condition chooses. They first find the numbers of these elements.
#include "choose.h"

#include <ferrule/ops.h>

#include <cstddef>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

constexpr int64_t segment_length = 256;
// lavapipe ends a loop after 65,535 iterations (docs/README.md).
constexpr int64_t most_steps = 16384, most_dispatches = 256;

// The bits of an item that are not all zero if the element is not zero: those of floating-point numbers without signs.
uint64_t significant_bits(const sdk::Operand& x) {
  const uint64_t all = ~uint64_t{0} >> (64 - 8 * x.item_size());
  const std::string_view name = sdk::host->dtype_name(x.dtype());
  if (name == "complex64") return 0x7fffffff7fffffff;
  return name.find("float") == std::string_view::npos ? all : all >> 1;
}

struct ChooseParameters {
  Layout condition;
  int64_t count, elements, segments, chosen, segment, first, stop, place;
  uint64_t significant;
};
static_assert(offsetof(ChooseParameters, significant) == sizeof(Layout) + 64);

// Adds the tasks of choose.comp.
Chosen add_tasks(Plan& plan, const std::string& shader, ChooseParameters p, uint32_t reads,
                 const Capabilities& capabilities) {
  p.segments = std::max<int64_t>(1, quotient_up(p.elements, segment_length));
  if (quotient_up(p.segments, most_steps) > most_dispatches)
    throw sdk::Error(FE_UNSUPPORTED, "the condition is too large");
  p.chosen = quotient_up(static_cast<int64_t>(plan.scratch), 8) * 8;
  p.segment = segment_length;
  plan.scratch = static_cast<uint64_t>(p.chosen + (p.segments + p.elements) * 8);
  const auto add = [&](uint32_t task, int64_t count) {
    p.count = count;
    plan.launches.push_back(
        dispatch_of(shader, p, {reads, scratch_value}, scratch_value, {task, reads == scratch_value ? 1u : 0u}));
    set_grid(plan.launches.back(), static_cast<uint64_t>(count), capabilities);
  };
  add(0, p.segments);
  for (p.first = 1; p.first < p.segments; p.first = p.stop) {
    p.stop = std::min(p.segments, p.first + most_steps);
    add(1, 1);
  }
  add(2, p.segments);
  return {p.elements, p.segments, p.chosen};
}

}  // namespace

Chosen choose(Plan& plan, const PlannedNode& node, uint32_t input, const Capabilities& capabilities) {
  const sdk::Operand condition = node.input(input);
  const std::string shader = by_item_size("choose", condition);
  ChooseParameters p{};
  p.condition = layout_of(node.input_value(input), condition);
  p.elements = condition.count();
  p.significant = significant_bits(condition);
  return add_tasks(plan, shader, p, p.condition.value, capabilities);
}

Chosen choose_marked(Plan& plan, uint64_t place, int64_t elements, const Capabilities& capabilities) {
  constexpr int64_t side_by_side[] = {1};
  ChooseParameters p{};
  p.condition = layout_of(0, std::span(&elements, 1), side_by_side);
  p.elements = elements;
  p.place = static_cast<int64_t>(place);
  p.significant = 0xff;
  return add_tasks(plan, "choose.u8", p, scratch_value, capabilities);
}

namespace {

bool has_count(const PlannedNode& node) { return node.output(1).is("int64") && node.output(1).rank() == 0; }

// A dispatch that writes both outputs.
template <class Parameters>
void add_last(Plan& plan, const PlannedNode& node, const Parameters& p, std::vector<uint32_t> reads,
              const Capabilities& capabilities) {
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, std::move(reads), node.output_value(0)));
  plan.launches.back().writes.push_back(node.output_value(1));
  set_grid(plan.launches.back(), static_cast<uint64_t>(std::max<int64_t>(1, p.count)), capabilities);
}

struct NonzeroParameters {
  int64_t count, elements, segments, chosen;
  int64_t shape[FE_MAX_RANK];
  uint32_t rank, indices, total;
};
static_assert(offsetof(NonzeroParameters, rank) == 32 + 8 * FE_MAX_RANK);

Plan plan_nonzero(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), indices = node.output(0);
  if (!has_count(node) || !indices.is("int64") || indices.rank() != 2 || indices.shape()[1] != x.rank())
    return refusal("the outputs have other dtypes or shapes");
  Plan plan = plan_named("nonzero");
  const Chosen chosen = choose(plan, node, 0, capabilities);
  NonzeroParameters p = {.count = indices.shape()[0],
                         .elements = chosen.elements,
                         .segments = chosen.segments,
                         .chosen = chosen.place,
                         .shape = {},
                         .rank = static_cast<uint32_t>(x.rank()),
                         .indices = node.output_value(0),
                         .total = node.output_value(1)};
  std::reverse_copy(x.shape().begin(), x.shape().end(), p.shape);
  add_last(plan, node, p, {scratch_value}, capabilities);
  return plan;
}

struct CompressParameters {
  Layout outer, inner;
  int64_t count, inner_count, size, elements, stride, segments, chosen;
  uint32_t to, total;
};
static_assert(offsetof(CompressParameters, to) == 2 * sizeof(Layout) + 56);

Plan plan_compress(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), condition = node.input(1), out = node.output(0);
  const auto at = static_cast<size_t>(node.attributes<fe_compress_attributes>().axis);
  if (!has_count(node) || x.dtype() != out.dtype() || x.rank() != out.rank() || condition.rank() != 1 ||
      condition.count() != x.shape()[at])
    return refusal("the operands differ in dtype or shape");
  Plan plan = plan_named(by_item_size("compress", x));
  const Chosen chosen = choose(plan, node, 1, capabilities);
  const uint32_t value = node.input_value(0);
  const CompressParameters p = {.outer = layout_of(value, x.shape().first(at), x.strides().first(at)),
                                .inner = layout_of(value, x.shape().subspan(at + 1), x.strides().subspan(at + 1)),
                                .count = out.count(),
                                .inner_count = product_of(x.shape().subspan(at + 1)),
                                .size = out.shape()[at],
                                .elements = chosen.elements,
                                .stride = x.strides()[at],
                                .segments = chosen.segments,
                                .chosen = chosen.place,
                                .to = node.output_value(0),
                                .total = node.output_value(1)};
  add_last(plan, node, p, {value, scratch_value}, capabilities);
  return plan;
}

struct ScatterParameters {
  Layout x, values, to;
  int64_t count, value_count, inner_count, elements, segments, chosen;
};
static_assert(sizeof(ScatterParameters) == 3 * sizeof(Layout) + 48);

Plan plan_masked_scatter(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), mask = node.input(1), values = node.input(2), out = node.output(0);
  if (x.dtype() != out.dtype() || values.dtype() != out.dtype() || !std::ranges::equal(x.shape(), out.shape()))
    return refusal("the operands differ in dtype or shape");
  const auto rank = static_cast<size_t>(mask.rank());
  if (rank == 0 || rank > x.shape().size() || !std::ranges::equal(mask.shape(), x.shape().first(rank)) ||
      values.rank() == 0 || !std::ranges::equal(values.shape().subspan(1), x.shape().subspan(rank)))
    return refusal("the operands differ in shape");
  Plan plan = plan_named(by_item_size("masked_scatter", out));
  const Chosen chosen = choose(plan, node, 1, capabilities);
  ScatterParameters p = {.x = layout_of(node.input_value(0), x),
                         .values = layout_of(node.input_value(2), values),
                         .to = layout_of(node.output_value(0), out),
                         .count = 0,
                         .value_count = values.shape()[0],
                         .inner_count = product_of(x.shape().subspan(rank)),
                         .elements = chosen.elements,
                         .segments = chosen.segments,
                         .chosen = chosen.place};
  const auto add = [&](uint32_t task, int64_t count, std::vector<uint32_t> reads) {
    p.count = count;
    plan.launches.push_back(dispatch_of(plan.support.kernel, p, std::move(reads), p.to.value, {task}));
    set_grid(plan.launches.back(), static_cast<uint64_t>(std::max<int64_t>(1, count)), capabilities);
  };
  add(0, out.count(), {p.x.value});
  add(1, values.count(), {p.values.value, scratch_value});
  return plan;
}

}  // namespace

KERNEL(nonzero, plan_nonzero)
KERNEL(compress, plan_compress)
KERNEL(masked_scatter, plan_masked_scatter)

}  // namespace ferrule::vulkan
