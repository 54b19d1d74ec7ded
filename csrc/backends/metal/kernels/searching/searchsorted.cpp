// The places of elements in a sorted array.
#include <ferrule/ops.h>

#include "kernels/sorting_keys.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout wanted;
  uint64_t count, size;
  int64_t stride;
};

Plan plan_searchsorted(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand sorted = node.input(0), wanted = node.input(1), out = node.output(0);
  if (sorted.rank() != 1 || sorted.dtype() != wanted.dtype() || !out.is("int64") || out.count() != wanted.count())
    return refusal("the operands differ in dtype or shape");
  Plan plan = plan_named("searchsorted");
  const std::string_view side = node.attributes<fe_searchsorted_attributes>().side;
  const std::string definitions = key_definitions(sorted) + definition("IS_RIGHT", side == "right");
  if (out.count() == 0) return plan;
  const Parameters p = {.wanted = layout_of(wanted),
                        .count = static_cast<uint64_t>(out.count()),
                        .size = static_cast<uint64_t>(sorted.shape()[0]),
                        .stride = sorted.strides()[0]};
  plan.launches.push_back(kernel_dispatch("searching/searchsorted", "searchsorted", definitions, p,
                                          {node.input_value(0), node.input_value(1)}, {node.output_value(0)}, p.count));
  return plan;
}

}  // namespace

KERNEL(searchsorted, plan_searchsorted)

}  // namespace ferrule::metal
