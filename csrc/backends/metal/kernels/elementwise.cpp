// Elementwise ops, single and fused. Each op is a function of kernels/elementwise/ that is called for every element.
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
  plan.dispatches.push_back(std::move(dispatch));
  return plan;
}

Plan plan_elementwise(const PlannedNode& node, const Capabilities&) { return plan_code(node, code_of(node)); }

KERNEL(fused, plan_elementwise)

// activation
KERNEL(relu, plan_elementwise)
KERNEL(sigmoid, plan_elementwise)
KERNEL(silu, plan_elementwise)
KERNEL(gelu, plan_elementwise)

// arithmetic
KERNEL(add, plan_elementwise)
KERNEL(subtract, plan_elementwise)
KERNEL(multiply, plan_elementwise)
KERNEL(divide, plan_elementwise)
KERNEL(floor_divide, plan_elementwise)
KERNEL(remainder, plan_elementwise)
KERNEL(fmod, plan_elementwise)
KERNEL(square, plan_elementwise)
KERNEL(reciprocal, plan_elementwise)
KERNEL(hypot, plan_elementwise)
KERNEL(negative, plan_elementwise)
KERNEL(positive, plan_elementwise)
KERNEL(abs, plan_elementwise)
KERNEL(sign, plan_elementwise)
KERNEL(copysign, plan_elementwise)
KERNEL(nextafter, plan_elementwise)
KERNEL(frexp, plan_elementwise)

// bitwise
KERNEL(bitwise_invert, plan_elementwise)
KERNEL(bitwise_and, plan_elementwise)
KERNEL(bitwise_or, plan_elementwise)
KERNEL(bitwise_xor, plan_elementwise)
KERNEL(bitwise_left_shift, plan_elementwise)
KERNEL(bitwise_right_shift, plan_elementwise)

// comparison
KERNEL(equal, plan_elementwise)
KERNEL(not_equal, plan_elementwise)
KERNEL(less, plan_elementwise)
KERNEL(less_equal, plan_elementwise)
KERNEL(greater, plan_elementwise)
KERNEL(greater_equal, plan_elementwise)
KERNEL(signbit, plan_elementwise)
KERNEL(isnan, plan_elementwise)
KERNEL(isinf, plan_elementwise)
KERNEL(isfinite, plan_elementwise)

// error_function
KERNEL(erf, plan_elementwise)
KERNEL(erfc, plan_elementwise)

// exponential
KERNEL(pow, plan_elementwise)
KERNEL(sqrt, plan_elementwise)
KERNEL(rsqrt, plan_elementwise)
KERNEL(exp, plan_elementwise)
KERNEL(exp2, plan_elementwise)
KERNEL(expm1, plan_elementwise)
KERNEL(log, plan_elementwise)
KERNEL(log2, plan_elementwise)
KERNEL(log10, plan_elementwise)
KERNEL(log1p, plan_elementwise)
KERNEL(logaddexp, plan_elementwise)

// logical
KERNEL(logical_not, plan_elementwise)
KERNEL(logical_and, plan_elementwise)
KERNEL(logical_or, plan_elementwise)
KERNEL(logical_xor, plan_elementwise)

// rounding
KERNEL(floor, plan_elementwise)
KERNEL(ceil, plan_elementwise)
KERNEL(trunc, plan_elementwise)
KERNEL(round, plan_elementwise)

// selection
KERNEL(where, plan_elementwise)
KERNEL(clip, plan_elementwise)
KERNEL(maximum, plan_elementwise)
KERNEL(minimum, plan_elementwise)

// trigonometric
KERNEL(sin, plan_elementwise)
KERNEL(cos, plan_elementwise)
KERNEL(tan, plan_elementwise)
KERNEL(asin, plan_elementwise)
KERNEL(acos, plan_elementwise)
KERNEL(atan, plan_elementwise)
KERNEL(atan2, plan_elementwise)
KERNEL(sinh, plan_elementwise)
KERNEL(cosh, plan_elementwise)
KERNEL(tanh, plan_elementwise)
KERNEL(asinh, plan_elementwise)
KERNEL(acosh, plan_elementwise)
KERNEL(atanh, plan_elementwise)

}  // namespace ferrule::metal
