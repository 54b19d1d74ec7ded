// Ops that keep, or replace, the elements that a condition chooses. They first find the numbers of these elements.
#include <ferrule/ops.h>

#include <algorithm>

#include "kernels/compaction/choose.h"
#include "kernels/movement/movement_plan.h"

namespace ferrule::metal {
namespace {

constexpr uint64_t segment_length = 256;
constexpr uint32_t threads = 256;  // as in choose.metal

struct ChooseParameters {
  Layout condition;
  Chosen chosen;
  uint64_t start, segment, significant;
};

// The bits of an item that are not all zero if the element is not zero: those of floating-point numbers without signs.
uint64_t significant_bits(const sdk::Operand& x) {
  const uint64_t all = ~uint64_t{0} >> (64 - 8 * x.item_size());
  const std::string_view name = sdk::host->dtype_name(x.dtype());
  if (name == "complex64") return 0x7fffffff7fffffff;
  return name.find("float") == std::string_view::npos ? all : all >> 1;
}

// Adds the dispatches of choose.metal.
Chosen add_choice(Plan& plan, const std::string& item, ChooseParameters p, uint32_t reads) {
  p.chosen.segments = std::max<uint64_t>(1, quotient_up(p.chosen.elements, segment_length));
  p.chosen.place = quotient_up(plan.scratch, uint64_t{8});
  p.segment = segment_length;
  plan.scratch = (p.chosen.place + p.chosen.segments + p.chosen.elements) * 8;
  const auto add = [&](const char* function, std::vector<uint32_t> read, uint64_t count) {
    plan.launches.push_back(
        kernel_dispatch("compaction/choose", function, item, p, std::move(read), {scratch_value}, count, threads));
  };
  add("count_chosen", {reads}, p.chosen.segments);
  add("add_counts", {}, threads);
  add("write_chosen", {reads}, p.chosen.segments);
  return p.chosen;
}

bool has_count(const PlannedNode& node) { return node.output(1).is("int64") && node.output(1).rank() == 0; }

// A dispatch that writes both outputs.
template <class Parameters>
void add_last(Plan& plan, const PlannedNode& node, const char* kernel, const std::string& definitions,
              const Parameters& p, std::vector<uint32_t> reads) {
  plan.launches.push_back(kernel_dispatch(std::string("compaction/") + kernel, kernel, definitions, p, std::move(reads),
                                          {node.output_value(0), node.output_value(1)},
                                          std::max<uint64_t>(1, p.count)));
}

struct NonzeroParameters {
  Chosen chosen;
  uint64_t count;
  int64_t shape[FE_MAX_RANK];
  uint32_t rank, unused;
};

Plan plan_nonzero(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), indices = node.output(0);
  if (!has_count(node) || !indices.is("int64") || indices.rank() != 2 || indices.shape()[1] != x.rank())
    return refusal("the outputs have other dtypes or shapes");
  Plan plan = plan_named("nonzero");
  NonzeroParameters p = {.chosen = choose(plan, node, 0),
                         .count = static_cast<uint64_t>(indices.shape()[0]),
                         .shape = {},
                         .rank = static_cast<uint32_t>(x.rank()),
                         .unused = 0};
  std::reverse_copy(x.shape().begin(), x.shape().end(), p.shape);
  add_last(plan, node, "nonzero", "", p, {scratch_value});
  return plan;
}

struct CompressParameters {
  Layout outer, inner;
  Chosen chosen;
  uint64_t count, inner_count, size;
  int64_t stride;
};

Plan plan_compress(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), condition = node.input(1), out = node.output(0);
  const auto at = static_cast<size_t>(node.attributes<fe_compress_attributes>().axis);
  if (!has_count(node) || x.dtype() != out.dtype() || x.rank() != out.rank() || condition.rank() != 1 ||
      condition.count() != x.shape()[at])
    return refusal("the operands differ in dtype or shape");
  Plan plan = plan_named("compress");
  const CompressParameters p = {.outer = layout_of(x.shape().first(at), x.strides().first(at)),
                                .inner = layout_of(x.shape().subspan(at + 1), x.strides().subspan(at + 1)),
                                .chosen = choose(plan, node, 1),
                                .count = static_cast<uint64_t>(out.count()),
                                .inner_count = static_cast<uint64_t>(product_of(x.shape().subspan(at + 1))),
                                .size = static_cast<uint64_t>(out.shape()[at]),
                                .stride = x.strides()[at]};
  add_last(plan, node, "compress", item_definition(x), p, {node.input_value(0), scratch_value});
  return plan;
}

struct ScatterParameters {
  Layout values, to;
  Chosen chosen;
  uint64_t count, value_count, inner_count;
  uint32_t result, unused;
};

Plan plan_masked_scatter(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), mask = node.input(1), values = node.input(2), out = node.output(0);
  if (x.dtype() != out.dtype() || values.dtype() != out.dtype() || !std::ranges::equal(x.shape(), out.shape()))
    return refusal("the operands differ in dtype or shape");
  const auto rank = static_cast<size_t>(mask.rank());
  if (rank == 0 || rank > x.shape().size() || !std::ranges::equal(mask.shape(), x.shape().first(rank)) ||
      values.rank() == 0 || !std::ranges::equal(values.shape().subspan(1), x.shape().subspan(rank)))
    return refusal("the operands differ in shape");
  Plan plan = plan_named("masked_scatter");
  const uint32_t result = node.output_value(0);
  const ScatterParameters p = {.values = layout_of(values),
                               .to = layout_of(out),
                               .chosen = choose(plan, node, 1),
                               .count = static_cast<uint64_t>(values.count()),
                               .value_count = static_cast<uint64_t>(values.shape()[0]),
                               .inner_count = static_cast<uint64_t>(product_of(x.shape().subspan(rank))),
                               .result = result,
                               .unused = 0};
  add_copy(plan, node, item_definition(out));
  plan.launches.push_back(kernel_dispatch("compaction/masked_scatter", "write_slices", item_definition(out), p,
                                          {node.input_value(2), scratch_value}, {result},
                                          std::max<uint64_t>(1, p.count)));
  return plan;
}

}  // namespace

Chosen choose(Plan& plan, const PlannedNode& node, uint32_t input) {
  const sdk::Operand condition = node.input(input);
  ChooseParameters p{};
  p.condition = layout_of(condition);
  p.chosen.elements = static_cast<uint64_t>(condition.count());
  p.significant = significant_bits(condition);
  return add_choice(plan, item_definition(condition), p, node.input_value(input));
}

Chosen choose_marked(Plan& plan, uint64_t place, int64_t elements) {
  constexpr int64_t side_by_side[] = {1};
  ChooseParameters p{};
  p.condition = layout_of(std::span(&elements, 1), side_by_side);
  p.chosen.elements = static_cast<uint64_t>(elements);
  p.start = place;
  p.significant = 0xff;
  return add_choice(plan, "typedef uchar Item;\n", p, scratch_value);
}

KERNEL(nonzero, plan_nonzero)
KERNEL(compress, plan_compress)
KERNEL(masked_scatter, plan_masked_scatter)

}  // namespace ferrule::metal
