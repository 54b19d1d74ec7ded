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
  const T epsilon = static_cast<T>(attributes_of<fe_layer_norm_attributes>(call).epsilon);
  return parallel(call, rows, larger(1, 16384 / larger(1, width)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      layer_norm_row(from + i * width, width, epsilon, weight, bias, to + i * width);
  });
}

bool accepts(const Call& call) {
  for (uint32_t i = 1; i < call.in_count; ++i)
    if (call.in[i].dtype != call.in[0].dtype) return false;
  return call.in[0].rank > 0;
}

}  // namespace

KERNEL(layer_norm, .dtypes = f32 | f64, .contiguous_inputs = 7, .accepts = accepts) {
  return call.in[0].dtype == DType::f32 ? normalise<float>(call) : normalise<double>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
