// Sums of squares over any axes, and their roots. The order is that of reduce.h. Where the sum overflows or vanishes,
// it is computed once more from scaled elements.
#include "../op_attributes.h"
#include "../reduce.h"
#include "../row_operations.h"
#include "../scaled_elements.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

using Attributes = fe_sum_of_squares_attributes;

template <class T>
using Square = SquareOf<T, Factor::none>;

Plan plan_of(const Call& call) { return plan_reduction(call.in[0], reduced_axes<Attributes>(call)); }

uint64_t scratch_size(const Call& call) { return reduction_scratch<double>(plan_of(call)); }

LocalScratch local_scratch(const Call& call) {
  LocalScratch local;
  with_floating(call.in[0].dtype, [&](auto zero) -> fe_error* {
    using T = decltype(zero);
    local = reduction_local<Computed<T>, Square<T>>(call, plan_of(call));
    return nullptr;
  });
  return local;
}

bool accepts(const Call& call) { return call.in[0].dtype == call.out[0].dtype; }

}  // namespace

KERNEL(sum_of_squares, .dtypes = f32 | f64 | halves, .takes_prologue = true, .accepts = accepts,
       .scratch_size = scratch_size, .local_scratch = local_scratch,
       .list_attributes = {offsetof(fe_sum_of_squares_attributes, axis)}) {
  const auto& attributes = attributes_of<Attributes>(call);
  const bool is_root = attributes.root != 0;
  const Plan plan = plan_of(call);
  return with_floating(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    using A = Computed<T>;
    const A divisor = static_cast<A>(attributes.divisor), length = static_cast<A>(larger(1, plan.length));
    return reduce<Sum, A, Square<T>, T>(call, plan, [=](A sum, const auto& again) {
      const A factor = factor_for(sum / length);
      if (factor < 1) sum = again(SquareOf<T, Factor::shrink>{});
      if (factor > 1) sum = again(SquareOf<T, Factor::grow>{});
      sum /= divisor;
      return is_root ? static_cast<A>(__builtin_sqrt(static_cast<double>(sum))) / factor : sum / factor / factor;
    });
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
