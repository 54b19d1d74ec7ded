// The distinct elements of an array. They are sorted, and the places at which runs of equal elements begin are chosen.
#include <cstddef>

#include "graphs/layout.h"
#include "pipelines/embedded_shaders.h"
#include "../compaction/choose.h"
#include "../planning.h"
#include "../sorting/sort.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  int64_t count, size, elements, segments, chosen, sorted, stride;
  uint32_t x, values, indices, counts, inverse, total;
};
static_assert(offsetof(Parameters, x) == 56);

// The numbers of the outputs; 0: the op has no such output. The first output are the elements, the last one their
// number.
struct Outputs {
  uint32_t indices, counts, inverse;
};

Plan plan_unique(const PlannedNode& node, Outputs outputs, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), values = node.output(0);
  if (x.rank() != 1 || values.rank() != 1 || values.dtype() != x.dtype())
    return refusal("the operands differ in dtype or rank");
  if (!has_shader("sort." + abbreviation_of(x))) return refusal("it has no order of these elements");
  Plan plan = plan_named(by_item_size("unique", x));
  Parameters p{};
  p.size = values.shape()[0];
  p.elements = x.count();
  p.stride = x.strides()[0];
  p.x = node.input_value(0);
  p.values = node.output_value(0);
  p.indices = node.output_value(outputs.indices);
  p.counts = node.output_value(outputs.counts);
  p.inverse = node.output_value(outputs.inverse);
  p.total = node.output_value(node.output_count() - 1);
  if (p.elements > 0) {
    const Sorted sorted = sort_rows(plan, node, false, capabilities);
    const uint64_t marks = mark_runs(plan, sorted, capabilities);
    const Chosen chosen = choose_marked(plan, marks, p.elements, capabilities);
    p.sorted = static_cast<int64_t>(sorted.place());
    p.segments = chosen.segments;
    p.chosen = chosen.place;
  }
  const auto add = [&](uint32_t task, int64_t count) {
    p.count = count;
    plan.launches.push_back(dispatch_of(plan.support.kernel, p, {p.x, scratch_value}, p.values,
                                        {task, outputs.indices > 0 ? 1u : 0u, outputs.counts > 0 ? 1u : 0u}));
    plan.launches.back().writes = {p.values, p.indices, p.counts, p.inverse, p.total};
    set_grid(plan.launches.back(), static_cast<uint64_t>(count), capabilities);
  };
  add(0, std::max<int64_t>(1, p.size));
  if (outputs.inverse > 0 && p.elements > 0) add(1, p.elements);
  return plan;
}

Plan plan_unique_values(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_unique(node, {}, capabilities);
}
Plan plan_unique_counts(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_unique(node, {.indices = 0, .counts = 1, .inverse = 0}, capabilities);
}
Plan plan_unique_inverse(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_unique(node, {.indices = 0, .counts = 0, .inverse = 1}, capabilities);
}
Plan plan_unique_all(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_unique(node, {.indices = 1, .counts = 2, .inverse = 3}, capabilities);
}

}  // namespace

KERNEL(unique_values, plan_unique_values)
KERNEL(unique_counts, plan_unique_counts)
KERNEL(unique_inverse, plan_unique_inverse)
KERNEL(unique_all, plan_unique_all)

}  // namespace ferrule::vulkan
