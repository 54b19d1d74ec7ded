// Sorts along the last axis, and the indices that sort.
#include "sort.h"

#include <ferrule/ops.h>

#include <cstddef>

#include "pipelines/embedded_shaders.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

// TASK of sort.comp
enum Task : uint32_t { sort_runs = 0, merge_runs = 1, write_elements = 2, write_indices = 3, write_marks = 4 };

constexpr int64_t shortest_run = 8;  // RUN of sort.comp

static_assert(offsetof(SortParameters, to) == sizeof(Layout) + 64);

// sort and argsort have the same attributes.
static_assert(sizeof(fe_sort_attributes) == sizeof(fe_argsort_attributes));

void add(Plan& plan, Sorted& sorted, Task task, int64_t invocations, std::vector<uint32_t> reads, uint32_t writes,
         const Capabilities& capabilities) {
  sorted.parameters.count = invocations;
  plan.launches.push_back(
      dispatch_of(sorted.shader, sorted.parameters, std::move(reads), writes, {task, sorted.descending}));
  set_grid(plan.launches.back(), static_cast<uint64_t>(invocations), capabilities);
}

Plan plan_sorting(const PlannedNode& node, Task last, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (x.rank() == 0 || !std::ranges::equal(x.shape(), out.shape())) return refusal("the operands differ in shape");
  Plan plan = plan_named("sort." + abbreviation_of(x));
  if (!has_shader(plan.support.kernel)) return refusal("it has no order of these elements");
  if (out.count() == 0) return plan;
  Sorted sorted = sort_rows(plan, node, node.attributes<fe_sort_attributes>().descending != 0, capabilities);
  sorted.parameters.to = node.output_value(0);
  add(plan, sorted, last, out.count(), {node.input_value(0), scratch_value}, node.output_value(0), capabilities);
  return plan;
}

Plan plan_sort(const PlannedNode& node, const Capabilities& capabilities) {
  if (node.input(0).dtype() != node.output(0).dtype()) return refusal("the operands differ in dtype");
  return plan_sorting(node, write_elements, capabilities);
}
Plan plan_argsort(const PlannedNode& node, const Capabilities& capabilities) {
  if (!node.output(0).is("int64")) return refusal("the indices are not int64");
  return plan_sorting(node, write_indices, capabilities);
}

}  // namespace

Sorted sort_rows(Plan& plan, const PlannedNode& node, bool descending, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0);
  const size_t axes = x.shape().size() - 1;
  const int64_t length = x.shape().back(), count = x.count(), runs = quotient_up(length, shortest_run);
  if (length > INT32_MAX) throw sdk::Error(FE_UNSUPPORTED, "it counts elements of a row in 32 bits");
  Sorted sorted = {
      .shader = "sort." + abbreviation_of(x),
      .parameters = {.kept = layout_of(node.input_value(0), x.shape().first(axes), x.strides().first(axes)),
                     .count = 0,
                     .length = length,
                     .stride = x.strides().back(),
                     .run = shortest_run,
                     .from = 1,
                     .to_half = 0,
                     .entries = count,
                     .marks = 0,
                     .to = 0},
      .descending = descending ? 1u : 0u,
      .key_bytes = std::max<uint64_t>(4, x.item_size())};
  SortParameters& p = sorted.parameters;
  add(plan, sorted, sort_runs, count / length * runs, {p.kept.value}, scratch_value, capabilities);
  std::swap(p.from, p.to_half);
  for (; p.run < length; p.run *= 2) {
    add(plan, sorted, merge_runs, count, {scratch_value}, scratch_value, capabilities);
    std::swap(p.from, p.to_half);
  }
  plan.scratch = static_cast<uint64_t>(count) * (runs > 1 ? 2 : 1) * 2 * sorted.key_bytes;
  return sorted;
}

uint64_t mark_runs(Plan& plan, Sorted sorted, const Capabilities& capabilities) {
  const uint64_t place = plan.scratch;
  sorted.parameters.marks = static_cast<int64_t>(place);
  plan.scratch += static_cast<uint64_t>(sorted.parameters.entries);
  add(plan, sorted, write_marks, sorted.parameters.entries, {scratch_value}, scratch_value, capabilities);
  return place;
}

KERNEL(sort, plan_sort)
KERNEL(argsort, plan_argsort)

}  // namespace ferrule::vulkan
