// Reductions over any axes. See reduce.h for the order, which depends on the reduced shape alone.
#include "../complex.h"
#include "../op_attributes.h"
#include "../reduce.h"
#include "../scaled_elements.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr uint16_t axis_list = offsetof(fe_sum_attributes, axis);  // at the same offset in all these structs
using Axes = fe_sum_attributes;

struct Keep {
  template <class A, class Again>
  A operator()(A value, const Again&) const {
    return value;
  }
};
// The mean of `length` elements of T. A sum that overflows is computed once more from smaller elements.
template <class T, class Part>
struct Mean {
  Part length;
  static bool is_finite(Part x) { return x - x == Part(0); }
  template <class Again>
  Part operator()(Part sum, const Again& again) const {
    return is_finite(sum) ? sum / length : again(Shrunk<T>{}) / length / Range<Part>::shrink;
  }
  template <class Again>
  Complex<Part> operator()(Complex<Part> sum, const Again& again) const {
    if (is_finite(sum.real) && is_finite(sum.imaginary)) return {sum.real / length, sum.imaginary / length};
    const Complex<Part> shrunk = again(Shrunk<T>{});
    return {shrunk.real / length / Range<Part>::shrink, shrunk.imaginary / length / Range<Part>::shrink};
  }
};

constexpr DTypes boolean = one_of(DType::boolean);
constexpr DTypes floats = f32 | f64 | one_of(DType::f16) | one_of(DType::bf16);

// Scratch that is enough for any reduction: only complex accumulators are larger than 8 bytes.
uint64_t scratch_size(const Call& call) {
  const Plan plan = plan_reduction(call.in[0], reduced_axes<Axes>(call));
  return (one_of(call.in[0].dtype) & complex_dtypes) != 0 ? reduction_scratch<Complex128>(plan)
                                                          : reduction_scratch<uint64_t>(plan);
}

// The memory per thread that is enough for any reduction, by the same bound.
LocalScratch local_scratch(const Call& call) {
  const Plan plan = plan_reduction(call.in[0], reduced_axes<Axes>(call));
  LocalScratch local;
  with_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    local = is_half<T> ? reduction_local<float, T>(call, plan) : reduction_local<uint64_t, T>(call, plan);
  });
  with_complex_type(call.in[0].dtype,
                    [&](auto zero) { local = reduction_local<decltype(zero), decltype(zero)>(call, plan); });
  return local;
}

LocalScratch local_scratch_of_mean(const Call& call) {
  const Plan plan = plan_reduction(call.in[0], reduced_axes<Axes>(call));
  LocalScratch local;
  const auto plan_for = [&](auto zero) {
    using T = decltype(zero);
    local = reduction_local<Computed<T>, Shrunk<T>>(call, plan);
  };
  with_type(call.in[0].dtype, plan_for);
  with_complex_type(call.in[0].dtype, plan_for);
  return local;
}

// The result has the dtype of the input or, for integers, a wider one.
bool accumulates(const Call& call) {
  const DType in = call.in[0].dtype, out = call.out[0].dtype;
  if (in == out) return in != DType::boolean;
  return (one_of(in) & (integer_dtypes | boolean)) != 0 && (out == DType::i64 || out == DType::u64);
}
bool keeps_dtype(const Call& call) { return call.in[0].dtype == call.out[0].dtype; }

// Adds integers modulo 2^64, whatever the width of the result.
template <class Op>
fe_error* accumulate(const Call& call) {
  const Plan plan = plan_reduction(call.in[0], reduced_axes<Axes>(call));
  fe_error* error = nullptr;
  with_complex_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    error = reduce<Op, T, T, T>(call, plan, Keep{});
  });
  with_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_float<Computed<T>>) {
      error = reduce<Op, Computed<T>, T, T>(call, plan, Keep{});
    } else {
      using A = uint64_t;
      with_type(call.out[0].dtype, [&](auto result) {
        using Out = decltype(result);
        if constexpr (!is_float<Computed<Out>>)
          if constexpr (sizeof(Out) == 8 || __is_same(Out, T))
            error = reduce<Op, A, T, Out>(call, plan, [](A sum, const auto&) { return static_cast<Out>(sum); });
      });
    }
  });
  return error;
}

template <class Op>
fe_error* extreme(const Call& call) {
  const Plan plan = plan_reduction(call.in[0], reduced_axes<Axes>(call));
  if (plan.length == 0 && plan.outputs > 0)
    return call.host->error_create(FE_INVALID_ARGUMENT, "max, min: no elements to reduce, and there is no identity");
  fe_error* error = nullptr;
  with_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    error = reduce<Op, Computed<T>, T, T>(call, plan, Keep{});
  });
  return error;
}

template <class Op>
fe_error* truth(const Call& call) {
  return reduce<Op, uint8_t, uint8_t, uint8_t>(call, plan_reduction(call.in[0], reduced_axes<Axes>(call)), Keep{});
}

fe_error* mean_of(const Call& call) {
  const Plan plan = plan_reduction(call.in[0], reduced_axes<Axes>(call));
  fe_error* error = nullptr;
  with_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    using A = Computed<T>;
    if constexpr (is_float<A>) error = reduce<Sum, A, T, T>(call, plan, Mean<T, A>{static_cast<A>(plan.length)});
  });
  with_complex_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    using Part = typename T::Part;
    error = reduce<Sum, T, T, T>(call, plan, Mean<T, Part>{static_cast<Part>(plan.length)});
  });
  return error;
}

}  // namespace

KERNEL(sum, .revision = 2, .dtypes = floats | complex_dtypes | integer_dtypes | boolean, .takes_prologue = true,
       .accepts = accumulates, .scratch_size = scratch_size, .local_scratch = local_scratch,
       .list_attributes = {axis_list}) {
  return accumulate<Sum>(call);
}
KERNEL(prod, .revision = 2, .dtypes = floats | complex_dtypes | integer_dtypes | boolean, .takes_prologue = true,
       .accepts = accumulates, .scratch_size = scratch_size, .local_scratch = local_scratch,
       .list_attributes = {axis_list}) {
  return accumulate<Product>(call);
}
KERNEL(max, .dtypes = floats | integer_dtypes | boolean, .takes_prologue = true, .accepts = keeps_dtype,
       .scratch_size = scratch_size, .local_scratch = local_scratch, .list_attributes = {axis_list}) {
  return extreme<Max>(call);
}
KERNEL(min, .dtypes = floats | integer_dtypes | boolean, .takes_prologue = true, .accepts = keeps_dtype,
       .scratch_size = scratch_size, .local_scratch = local_scratch, .list_attributes = {axis_list}) {
  return extreme<Min>(call);
}
KERNEL(any, .dtypes = boolean, .takes_prologue = true, .accepts = keeps_dtype, .scratch_size = scratch_size,
       .local_scratch = local_scratch, .list_attributes = {axis_list}) {
  return truth<Any>(call);
}
KERNEL(all, .dtypes = boolean, .takes_prologue = true, .accepts = keeps_dtype, .scratch_size = scratch_size,
       .local_scratch = local_scratch, .list_attributes = {axis_list}) {
  return truth<All>(call);
}
KERNEL(mean, .dtypes = floats | complex_dtypes, .takes_prologue = true, .accepts = keeps_dtype,
       .scratch_size = scratch_size, .local_scratch = local_scratch_of_mean, .list_attributes = {axis_list}) {
  return mean_of(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
