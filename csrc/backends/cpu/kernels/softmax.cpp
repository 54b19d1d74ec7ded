// Softmax and log_softmax along the last axis. See rows.h.
#include "op_attributes.h"
#include "rows.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

bool along_last_axis(const Call& call) {
  return attributes_of<fe_softmax_attributes>(call).axis == call.in[0].rank - 1 && call.in[0].rank > 0;
}
static_assert(sizeof(fe_softmax_attributes) == sizeof(fe_log_softmax_attributes));

template <class T, class Row>
fe_error* over_rows(const Call& call, Row row) {
  const Operand& x = call.in[0];
  const int64_t width = x.shape[x.rank - 1], rows = width == 0 ? 0 : count_of(x) / width;
  const T* from = reinterpret_cast<const T*>(x.data);
  T* to = reinterpret_cast<T*>(call.out[0].data);
  return parallel(call, rows, larger(1, 16384 / larger(1, width)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) row(from + i * width, width, to + i * width);
  });
}

}  // namespace

KERNEL(softmax, .dtypes = f32 | f64, .contiguous_inputs = 1, .accepts = along_last_axis) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    return over_rows<T>(call, [](const T* x, int64_t n, T* y) { softmax_row(x, n, y); });
  };
  return call.in[0].dtype == DType::f32 ? run(float{}) : run(double{});
}

KERNEL(log_softmax, .dtypes = f32 | f64, .contiguous_inputs = 1, .accepts = along_last_axis) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    return over_rows<T>(call, [](const T* x, int64_t n, T* y) { log_softmax_row(x, n, y); });
  };
  return call.in[0].dtype == DType::f32 ? run(float{}) : run(double{});
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
