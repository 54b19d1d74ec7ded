// The QR decomposition.
#include <ferrule/ops.h>

#include "householder_qr.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
struct Memory {
  T *a, *q, *work;
  Reflections<T> reflections;
  int64_t pitch, q_pitch;
  uint64_t bytes;
  Memory(char* at, int64_t m, int64_t n, int64_t q_columns) : pitch(pitch_of<T>(n)), q_pitch(pitch_of<T>(q_columns)) {
    ScratchArena scratch(at);
    const int64_t count = smaller(m, n);
    a = scratch.array<T>(m * pitch);
    q = scratch.array<T>(m * q_pitch);
    reflections = {scratch.array<T>(count * pitch_of<T>(m)),
                   pitch_of<T>(m),
                   scratch.array<T>(count),
                   scratch.array<T>(Reflections<T>::t_size(count)),
                   count,
                   m,
                   0};
    work = scratch.array<T>(Reflections<T>::work_size(m, larger(n, q_columns)));
    bytes = scratch.bytes();
  }
};

double work_of(const Call& call) {
  const Operand& x = call.in[0];
  const auto m = static_cast<double>(rows_of(x)), n = static_cast<double>(columns_of(x)), least = m < n ? m : n;
  return m * least * n + m * least * static_cast<double>(columns_of(call.out[0]));
}

Stack stack_of(const Call& call) {
  const Operand& x = call.in[0];
  uint64_t bytes = 0;
  with_number(x.dtype, [&](auto zero) {
    bytes = Memory<decltype(zero)>(nullptr, rows_of(x), columns_of(x), columns_of(call.out[0])).bytes;
  });
  return {stack_size(x), bytes, work_of(call)};
}

template <class T>
fe_error* qr(const Call& call) {
  const Operand& x = call.in[0];
  const int64_t m = rows_of(x), n = columns_of(x), k = columns_of(call.out[0]);
  return stack_of(call).run(
      call, x, "", "",
      [&](Team& team, int64_t matrix, char* scratch) {
        Memory<T> memory(scratch, m, n, k);
        copy_matrix(reinterpret_cast<const T*>(x.data) + matrix * m * n, n, m, n, memory.a, memory.pitch);
        decompose_qr(team, memory.a, memory.pitch, m, n, memory.reflections, memory.work);
        T* const r = reinterpret_cast<T*>(call.out[1].data) + matrix * k * n;
        for (int64_t i = 0; i < k; ++i)
          for (int64_t j = 0; j < n; ++j) r[i * n + j] = j < i ? T{} : memory.a[i * memory.pitch + j];
        make_q(team, memory.reflections, memory.q, memory.q_pitch, m, k, memory.work);
        copy_matrix(memory.q, memory.q_pitch, m, k, reinterpret_cast<T*>(call.out[0].data) + matrix * m * k, k);
        return true;
      },
      work_of(call));
}

bool accepts(const Call& call) {
  const Operand& x = call.in[0];
  return x.rank >= 2 && call.out_count == 2 && call.out[0].dtype == x.dtype && call.out[1].dtype == x.dtype &&
         call.out[0].rank == x.rank && call.out[1].rank == x.rank;
}

uint64_t scratch_size(const Call& call) { return stack_of(call).scratch_size(); }
LocalScratch local_scratch(const Call& call) { return stack_of(call).local_scratch(); }

}  // namespace

KERNEL(qr, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts, .scratch_size = scratch_size,
       .local_scratch = local_scratch, .string_attributes = {offsetof(fe_qr_attributes, mode)}) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = qr<decltype(zero)>(call); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
