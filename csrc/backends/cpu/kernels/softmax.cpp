// Softmax and log_softmax along the last axis. See rows.h.
#include "op_attributes.h"
#include "rows.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

bool along_last_axis(const Call& call) {
  const Operand& x = call.in[0];
  if (attributes_of<fe_softmax_attributes>(call).axis != x.rank - 1 || x.rank == 0) return false;
  return (one_of(x.dtype) & halves) == 0 || x.shape[x.rank - 1] <= longest_half_row;
}
static_assert(sizeof(fe_softmax_attributes) == sizeof(fe_log_softmax_attributes));

template <class T, class Row>
fe_error* over_rows(const Call& call, Row row) {
  const Operand& x = call.in[0];
  const int64_t width = x.shape[x.rank - 1], rows = width == 0 ? 0 : count_of(x) / width;
  const T* from = reinterpret_cast<const T*>(x.data);
  T* to = reinterpret_cast<T*>(call.out[0].data);
  return parallel(call, rows, larger(1, 16384 / larger(1, width)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) on_row(from + i * width, width, to + i * width, row);
  });
}

}  // namespace

KERNEL(softmax, .dtypes = f32 | f64 | halves, .contiguous_inputs = 1, .accepts = along_last_axis) {
  return with_floating(call.in[0].dtype, [&](auto zero) {
    return over_rows<decltype(zero)>(call, [](const auto* x, int64_t n, auto* y) { softmax_row(x, n, y); });
  });
}

KERNEL(log_softmax, .dtypes = f32 | f64 | halves, .contiguous_inputs = 1, .accepts = along_last_axis) {
  return with_floating(call.in[0].dtype, [&](auto zero) {
    return over_rows<decltype(zero)>(call, [](const auto* x, int64_t n, auto* y) { log_softmax_row(x, n, y); });
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
