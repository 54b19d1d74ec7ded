// Matrix products of integers of 16 bits and more, modulo 2^width. These are plain loops that add up rows of B; the
// compiler vectorises them.
#include "../strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The offset of a batch in an operand whose leading axes broadcast to those of the output.
int64_t batch_offset(const Operand& x, const Operand& out, int64_t batch) {
  int64_t at = 0;
  for (int32_t axis = out.rank - 2; axis-- > 0;) {
    const int32_t own = axis - (out.rank - x.rank);
    const int64_t index = batch % out.shape[axis];
    batch /= out.shape[axis];
    if (own >= 0 && x.shape[own] != 1) at += index * x.strides[own];
  }
  return at;
}

template <class T>
fe_error* multiply(const Call& call) {
  const Operand &a = call.in[0], &b = call.in[1], &out = call.out[0];
  const int64_t m = out.shape[out.rank - 2], n = out.shape[out.rank - 1], k = a.shape[a.rank - 1];
  const int64_t a_column = a.strides[a.rank - 1], b_row = b.strides[b.rank - 2], b_column = b.strides[b.rank - 1];
  if (m == 0 || n == 0) return nullptr;
  return parallel(call, count_of(out) / n, larger(1, 32768 / larger(1, n * k)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* x = reinterpret_cast<const T*>(a.data) + batch_offset(a, out, i / m) + i % m * a.strides[a.rank - 2];
      const T* y = reinterpret_cast<const T*>(b.data) + batch_offset(b, out, i / m);
      T* HWY_RESTRICT row = reinterpret_cast<T*>(out.data) + i * n;
      for (int64_t j = 0; j < n; ++j) row[j] = 0;
      for (int64_t q = 0; q < k; ++q) {
        const T factor = x[q * a_column];
        const T* from = y + q * b_row;
        if (b_column == 1)
          for (int64_t j = 0; j < n; ++j) row[j] = static_cast<T>(row[j] + static_cast<T>(factor * from[j]));
        else
          for (int64_t j = 0; j < n; ++j) row[j] = static_cast<T>(row[j] + static_cast<T>(factor * from[j * b_column]));
      }
    }
  });
}

bool accepts(const Call& call) {
  return call.in[0].item_size > 1 && call.in[0].dtype == call.in[1].dtype && call.in[0].rank >= 2 &&
         call.in[1].rank >= 2;
}

}  // namespace

KERNEL(integer_matmul, .op = "matmul", .dtypes = integer_dtypes, .accepts = accepts) {
  switch (call.in[0].item_size) {
    case 2:
      return multiply<uint16_t>(call);
    case 4:
      return multiply<uint32_t>(call);
    default:
      return multiply<uint64_t>(call);
  }
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
