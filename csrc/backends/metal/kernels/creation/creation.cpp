// iota: 0, 1, 2, ...; arange: start, start + step, start + 2 step, ...
#include "kernels/elementwise_plan.h"
#include "kernels/planning.h"

namespace ferrule::metal {
namespace {

Plan plan_iota(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  return plan_code(node, counting_code_of(node));
}

Plan plan_arange(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand start = node.input(0), step = node.input(1);
  if (!start.is("int64") || !step.is("int64")) return refusal("start and step are not int64");
  return plan_code(node, counting_code_of(node));
}

}  // namespace

KERNEL(iota, plan_iota)
KERNEL(arange, plan_arange)

}  // namespace ferrule::metal
