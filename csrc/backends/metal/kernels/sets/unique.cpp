// The distinct elements of an array. They are sorted, and the places at which runs of equal elements begin are chosen.
#include "kernels/compaction/choose.h"
#include "kernels/movement/movement_plan.h"
#include "kernels/sorting/sort.h"
#include "kernels/sorting_keys.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Chosen chosen;
  uint64_t count, size, sorted;
  int64_t stride;
};

// The numbers of the outputs; 0: the op has no such output. The first output are the elements, the last one their
// number.
struct Outputs {
  uint32_t indices, counts, inverse;
};

Plan plan_unique(const PlannedNode& node, Outputs outputs) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), values = node.output(0);
  if (x.rank() != 1 || values.rank() != 1 || values.dtype() != x.dtype())
    return refusal("the operands differ in dtype or rank");
  Plan plan = plan_named("unique");
  const std::string definitions = key_definitions(x) + item_definition(x) +
                                  definition("HAS_INDICES", outputs.indices > 0) +
                                  definition("HAS_COUNTS", outputs.counts > 0);
  Parameters p{};
  p.size = static_cast<uint64_t>(values.shape()[0]);
  p.chosen.elements = static_cast<uint64_t>(x.count());
  p.stride = x.strides()[0];
  plan.scratch = 8;  // also without elements: the kernel has the memory as an argument
  if (x.count() > 0) {
    const Sorted sorted = sort_rows(plan, node, false);
    const uint64_t marks = mark_runs(plan, sorted);
    p.chosen = choose_marked(plan, marks, x.count());
    p.sorted = sorted.parameters.from;
  }
  const auto add = [&](const char* function, uint64_t count, std::vector<uint32_t> reads,
                       std::vector<uint32_t> writes) {
    p.count = count;
    plan.launches.push_back(
        kernel_dispatch("sets/unique", function, definitions, p, std::move(reads), std::move(writes), count));
  };
  std::vector<uint32_t> writes = {node.output_value(0)};
  for (const uint32_t output : {outputs.indices, outputs.counts})
    if (output > 0) writes.push_back(node.output_value(output));
  writes.push_back(node.output_value(node.output_count() - 1));
  add("write_runs", std::max<uint64_t>(1, p.size), {node.input_value(0), scratch_value, scratch_value},
      std::move(writes));
  if (outputs.inverse > 0 && x.count() > 0)
    add("write_places", p.chosen.elements, {scratch_value, scratch_value}, {node.output_value(outputs.inverse)});
  return plan;
}

Plan plan_unique_values(const PlannedNode& node, const Capabilities&) { return plan_unique(node, {}); }
Plan plan_unique_counts(const PlannedNode& node, const Capabilities&) {
  return plan_unique(node, {.indices = 0, .counts = 1, .inverse = 0});
}
Plan plan_unique_inverse(const PlannedNode& node, const Capabilities&) {
  return plan_unique(node, {.indices = 0, .counts = 0, .inverse = 1});
}
Plan plan_unique_all(const PlannedNode& node, const Capabilities&) {
  return plan_unique(node, {.indices = 1, .counts = 2, .inverse = 3});
}

}  // namespace

KERNEL(unique_values, plan_unique_values)
KERNEL(unique_counts, plan_unique_counts)
KERNEL(unique_inverse, plan_unique_inverse)
KERNEL(unique_all, plan_unique_all)

}  // namespace ferrule::metal
