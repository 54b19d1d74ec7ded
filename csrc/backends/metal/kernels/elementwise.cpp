// Elementwise ops, single and fused. Each op is a function of kernels/elementwise/ that is called for every element,
// and needs no KERNEL line.
#include "kernels/elementwise_plan.h"

#include "graphs/element_function.h"
#include "graphs/grid.h"

namespace ferrule::metal {
namespace {

constexpr uint32_t threads = 256, items = 4;  // as in elementwise.metal

}  // namespace

Plan plan_code(const PlannedNode& node, const ElementCode& code) {
  Plan plan;
  plan.support.kernel = "elementwise";
  const sdk::Operand out = node.output(0);
  const ElementFunction function = element_function(code, out.shape(), 0);
  Dispatch dispatch;
  dispatch.kernel = {.text = "#include \"elementwise.metal\"\n", .function = "elementwise", .threads = threads};
  const auto count = static_cast<uint64_t>(out.count());
  dispatch.set_parameters(count);
  function.finish(dispatch);
  set_grid(dispatch, quotient_up(count, uint64_t{items}));
  plan.launches.push_back(std::move(dispatch));
  return plan;
}

Plan plan_elementwise(const PlannedNode& node, const Capabilities&) { return plan_code(node, code_of(node)); }

KERNEL(fused, plan_elementwise)

}  // namespace ferrule::metal
