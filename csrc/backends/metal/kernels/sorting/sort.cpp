// Sorts along the last axis, and the indices that sort.
#include "kernels/sorting/sort.h"

#include <ferrule/ops.h>

#include <algorithm>

#include "kernels/sorting_keys.h"

namespace ferrule::metal {
namespace {

constexpr uint64_t shortest_run = 8;  // RUN of sort.metal

// sort and argsort have the same attributes.
static_assert(sizeof(fe_sort_attributes) == sizeof(fe_argsort_attributes));

void add(Plan& plan, Sorted& sorted, const char* function, uint64_t count, std::vector<uint32_t> reads,
         uint32_t writes) {
  sorted.parameters.count = count;
  plan.launches.push_back(kernel_dispatch("sorting/sort", function, sorted.definitions, sorted.parameters,
                                          std::move(reads), {writes}, count));
}

Plan plan_sorting(const PlannedNode& node, bool gives_indices) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (x.rank() == 0 || !std::ranges::equal(x.shape(), out.shape())) return refusal("the operands differ in shape");
  Plan plan = plan_named("sort");
  if (out.count() == 0) return plan;
  Sorted sorted = sort_rows(plan, node, node.attributes<fe_sort_attributes>().descending != 0);
  if (gives_indices)
    add(plan, sorted, "write_indices", sorted.entries, {scratch_value}, node.output_value(0));
  else
    add(plan, sorted, "write_elements", sorted.entries, {node.input_value(0), scratch_value}, node.output_value(0));
  return plan;
}

Plan plan_sort(const PlannedNode& node, const Capabilities&) {
  if (node.input(0).dtype() != node.output(0).dtype()) return refusal("the operands differ in dtype");
  formats().of(node.input(0).dtype());  // refuses others
  return plan_sorting(node, false);
}
Plan plan_argsort(const PlannedNode& node, const Capabilities&) {
  if (!node.output(0).is("int64")) return refusal("the indices are not int64");
  formats().of(node.input(0).dtype());
  return plan_sorting(node, true);
}

}  // namespace

Sorted sort_rows(Plan& plan, const PlannedNode& node, bool is_descending) {
  const sdk::Operand x = node.input(0);
  const size_t axes = x.shape().size() - 1;
  const auto length = static_cast<uint64_t>(x.shape().back()), entries = static_cast<uint64_t>(x.count());
  const uint64_t runs = quotient_up(length, shortest_run);
  if (length > INT32_MAX) throw sdk::Error(FE_UNSUPPORTED, "it counts elements of a row in 32 bits");
  Sorted sorted = {.definitions = key_definitions(x) + definition("IS_DESCENDING", is_descending),
                   .parameters = {.kept = layout_of(x.shape().first(axes), x.strides().first(axes)),
                                  .count = 0,
                                  .length = length,
                                  .stride = x.strides().back(),
                                  .run = shortest_run,
                                  .from = entries,
                                  .to = 0,
                                  .marks = 0},
                   .entries = entries};
  SortParameters& p = sorted.parameters;
  add(plan, sorted, "sort_runs", entries / length * runs, {node.input_value(0)}, scratch_value);
  std::swap(p.from, p.to);
  for (; p.run < length; p.run *= 2) {
    add(plan, sorted, "merge_runs", entries, {}, scratch_value);
    std::swap(p.from, p.to);
  }
  plan.scratch = entries * (runs > 1 ? 2 : 1) * 2 * key_bytes(x);
  return sorted;
}

uint64_t mark_runs(Plan& plan, Sorted sorted) {
  const uint64_t place = plan.scratch;
  sorted.parameters.marks = place;
  plan.scratch += sorted.entries;
  add(plan, sorted, "mark_runs", sorted.entries, {scratch_value}, scratch_value);
  return place;
}

KERNEL(sort, plan_sort)
KERNEL(argsort, plan_argsort)

}  // namespace ferrule::metal
