// Layer normalisation over the last axis. See rows.h.
#include "op_attributes.h"
#include "rows.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
fe_error* normalise(const Call& call) {
  const Operand& x = call.in[0];
  const int64_t width = x.shape[x.rank - 1], rows = width == 0 ? 0 : count_of(x) / width;
  const T* from = reinterpret_cast<const T*>(x.data);
  const T* weight = call.in_count > 1 ? reinterpret_cast<const T*>(call.in[1].data) : nullptr;
  const T* bias = call.in_count > 2 ? reinterpret_cast<const T*>(call.in[2].data) : nullptr;
  T* to = reinterpret_cast<T*>(call.out[0].data);
  using Value = Computed<T>;
  const auto epsilon = static_cast<Value>(attributes_of<fe_layer_norm_attributes>(call).epsilon);
  return parallel(call, rows, larger(1, 16384 / larger(1, width)), [&](int64_t begin, int64_t end) {
    alignas(64) Value wide[2][is_half<T> ? longest_half_row : 1];
    const Value* const w = weight == nullptr ? nullptr : computed(weight, width, wide[0]);
    const Value* const b = bias == nullptr ? nullptr : computed(bias, width, wide[1]);
    for (int64_t i = begin; i < end; ++i)
      on_row(from + i * width, width, to + i * width,
             [&](const Value* row, int64_t n, Value* y) { layer_norm_row(row, n, epsilon, w, b, y); });
  });
}

bool accepts(const Call& call) {
  for (uint32_t i = 1; i < call.in_count; ++i)
    if (call.in[i].dtype != call.in[0].dtype) return false;
  const Operand& x = call.in[0];
  return x.rank > 0 && ((one_of(x.dtype) & halves) == 0 || x.shape[x.rank - 1] <= longest_half_row);
}

}  // namespace

KERNEL(layer_norm, .dtypes = f32 | f64 | halves, .contiguous_inputs = 7, .accepts = accepts) {
  return with_floating(call.in[0].dtype, [&](auto zero) { return normalise<decltype(zero)>(call); });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
