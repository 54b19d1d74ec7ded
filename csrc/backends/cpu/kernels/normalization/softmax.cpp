// Softmax and log_softmax along the last axis. See row_operations.h.
#include "../op_attributes.h"
#include "../row_operations.h"

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
  const RowTasks tasks(call.in[0]);
  const int64_t width = tasks.width;
  const T* from = reinterpret_cast<const T*>(call.in[0].data);
  T* to = reinterpret_cast<T*>(call.out[0].data);
  return parallel_with_local(call, tasks.rows, tasks.grain, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
    ScratchArena scratch(local);
    const WideRow<T> wide(scratch, width);
    for (int64_t i = begin; i < end; ++i) on_row(from + i * width, width, to + i * width, wide, row);
    return nullptr;
  });
}

LocalScratch local_scratch(const Call& call) {
  const RowTasks tasks(call.in[0]);
  ScratchArena scratch(nullptr);
  if ((one_of(call.in[0].dtype) & halves) != 0) {
    const WideRow<Float16> wide(scratch, tasks.width);
  }
  return {scratch.bytes(), tasks.threads()};
}

}  // namespace

KERNEL(softmax, .dtypes = f32 | f64 | halves, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = along_last_axis,
       .local_scratch = local_scratch) {
  return with_floating(call.in[0].dtype, [&](auto zero) {
    return over_rows<decltype(zero)>(call, [](const auto* x, int64_t n, auto* y) { softmax_row(x, n, y); });
  });
}

KERNEL(log_softmax, .dtypes = f32 | f64 | halves, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = along_last_axis,
       .local_scratch = local_scratch) {
  return with_floating(call.in[0].dtype, [&](auto zero) {
    return over_rows<decltype(zero)>(call, [](const auto* x, int64_t n, auto* y) { log_softmax_row(x, n, y); });
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
