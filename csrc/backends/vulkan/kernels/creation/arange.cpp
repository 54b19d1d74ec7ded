// arange: start, start + step, start + 2 step, ..., by the functions of elementwise ops.
#include "../elementwise.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

Plan plan_arange(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand start = node.input(0), step = node.input(1);
  if (start.dtype() != step.dtype() || !(start.is("int64") || start.is("float64")))
    return refusal("start and step are neither int64 nor float64");
  return plan_body(arange_body(node), node, capabilities);
}

}  // namespace

KERNEL(arange, plan_arange)

}  // namespace ferrule::vulkan
