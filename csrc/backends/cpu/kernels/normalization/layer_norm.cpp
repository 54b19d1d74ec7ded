// Layer normalisation and root-mean-square normalisation over the last axis. See row_operations.h.
#include "../op_attributes.h"
#include "../row_operations.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Weight and bias, widened once for a range of rows.
template <class T>
struct WideParameters {
  Computed<T>*weight, *bias;
  WideParameters(ScratchArena& scratch, int64_t width)
      : weight(scratch.array<Computed<T>>(is_half<T> ? width : 0)),
        bias(scratch.array<Computed<T>>(is_half<T> ? width : 0)) {}
};

template <class T>
using RowFunction = void (*)(const T* x, int64_t count, T epsilon, const T* weight, const T* bias, T* y);

template <class T>
fe_error* normalise(const Call& call, double epsilon_of_op, RowFunction<Computed<T>> normalise_row_of_op) {
  const RowTasks tasks(call.in[0]);
  const int64_t width = tasks.width;
  const T* from = reinterpret_cast<const T*>(call.in[0].data);
  const T* weight = call.in_count > 1 ? reinterpret_cast<const T*>(call.in[1].data) : nullptr;
  const T* bias = call.in_count > 2 ? reinterpret_cast<const T*>(call.in[2].data) : nullptr;
  T* to = reinterpret_cast<T*>(call.out[0].data);
  using Value = Computed<T>;
  const auto epsilon = static_cast<Value>(epsilon_of_op);
  return parallel_with_local(call, tasks.rows, tasks.grain, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
    ScratchArena scratch(local);
    const WideRow<T> wide(scratch, width);
    const WideParameters<T> parameters(scratch, width);
    const Value* const w = weight == nullptr ? nullptr : computed(weight, width, parameters.weight);
    const Value* const b = bias == nullptr ? nullptr : computed(bias, width, parameters.bias);
    for (int64_t i = begin; i < end; ++i)
      on_row(from + i * width, width, to + i * width, wide,
             [&](const Value* row, int64_t n, Value* y) { normalise_row_of_op(row, n, epsilon, w, b, y); });
    return nullptr;
  });
}

LocalScratch local_scratch(const Call& call) {
  const RowTasks tasks(call.in[0]);
  ScratchArena scratch(nullptr);
  if ((one_of(call.in[0].dtype) & halves) != 0) {
    const WideRow<Float16> wide(scratch, tasks.width);
    const WideParameters<Float16> parameters(scratch, tasks.width);
  }
  return {scratch.bytes(), tasks.threads()};
}

bool accepts(const Call& call) {
  for (uint32_t i = 1; i < call.in_count; ++i)
    if (call.in[i].dtype != call.in[0].dtype) return false;
  const Operand& x = call.in[0];
  return x.rank > 0 && ((one_of(x.dtype) & halves) == 0 || x.shape[x.rank - 1] <= longest_half_row);
}

}  // namespace

KERNEL(layer_norm, .dtypes = f32 | f64 | halves,
       .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts,
       .local_scratch = local_scratch) {
  const double epsilon = attributes_of<fe_layer_norm_attributes>(call).epsilon;
  return with_floating(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return normalise<T>(call, epsilon, layer_norm_row<Computed<T>>);
  });
}

KERNEL(rms_norm, .dtypes = f32 | f64 | halves, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS},
       .accepts = accepts, .local_scratch = local_scratch) {
  const double epsilon = attributes_of<fe_rms_norm_attributes>(call).epsilon;
  return with_floating(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return normalise<T>(call, epsilon, rms_norm_row<Computed<T>>);
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
