// The Cholesky decomposition A = L L^H, or U^H U.
#include "../op_attributes.h"
#include "matrices.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t block = 32;

// L in the lower triangle of row-major A, whose lower triangle alone is read. Returns false unless A is positive
// definite.
template <class T>
bool factor(Team& team, T* a, int64_t lda, int64_t n, T* work) {
  using R = RealOf<T>;
  for (int64_t first = 0; first < n && !team.is_stopped(); first += block) {
    const int64_t width = smaller(block, n - first), after = first + width;
    T* const diagonal = a + first * lda + first;
    // Row by row: L[i, j] = (A[i, j] - sum L[i, k] conj(L[j, k])) / L[j, j].
    const auto solve_row = [&](T* row, int64_t count) {
      for (int64_t j = 0; j < count; ++j) {
        const T* const other = diagonal + j * lda;
        const T rest = row[j] - dot_with_conj(j, other, row);
        row[j] = (R(1) / real(other[j])) * rest;
      }
    };
    for (int64_t i = 0; i < width; ++i) {
      T* const row = diagonal + i * lda;
      solve_row(row, i);
      const R square = real(row[i]) - real(dot_with_conj(i, row, row));
      if (!(square > 0)) return false;
      row[i] = number<T>(root(square));
    }
    const int64_t rest = n - after;
    team.run(rest, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) solve_row(a + (after + i) * lda + first, width);
    });
    // The rest by strips of rows, each up to its diagonal.
    constexpr int64_t strip = 128;
    for (int64_t top = after; top < n; top += strip) {
      const int64_t rows = smaller(strip, n - top);
      multiply<T>(team, rows, top + rows - after, width, {a + top * lda + first, lda, 1},
                  {a + after * lda + first, 1, lda, true}, a + top * lda + after, lda, Store::subtract, work);
    }
  }
  return true;
}

template <class T>
struct Memory {
  T *a, *work;
  int64_t pitch;
  uint64_t bytes;
  Memory(char* at, int64_t n) : pitch(pitch_of<T>(n)) {
    ScratchArena scratch(at);
    a = scratch.array<T>(n * pitch);
    work = scratch.array<T>(packed_size<T>(128, n, block));
    bytes = scratch.bytes();
  }
};

double work_of(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 6; }

Stack stack_of(const Call& call) {
  const Operand& x = call.in[0];
  uint64_t bytes = 0;
  with_number(x.dtype, [&](auto zero) { bytes = Memory<decltype(zero)>(nullptr, rows_of(x)).bytes; });
  return {stack_size(x), bytes, work_of(rows_of(x))};
}

template <class T>
fe_error* cholesky(const Call& call) {
  const Operand& x = call.in[0];
  const int64_t n = rows_of(x);
  const bool upper = attributes_of<fe_cholesky_attributes>(call).upper != 0;
  return stack_of(call).run(
      call, x, "cholesky", "is not positive definite",
      [&](Team& team, int64_t matrix, char* scratch) {
        const Memory<T> memory(scratch, n);
        const T* const from = reinterpret_cast<const T*>(x.data) + matrix * n * n;
        T* const to = reinterpret_cast<T*>(call.out[0].data) + matrix * n * n;
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j <= i; ++j)
            memory.a[i * memory.pitch + j] = upper ? conj(from[j * n + i]) : from[i * n + j];
        if (!factor(team, memory.a, memory.pitch, n, memory.work)) return false;
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j) {
            if (i == j)  // a real number, without a zero of negative sign as its imaginary part
              to[i * n + j] = number<T>(real(memory.a[i * memory.pitch + i]));
            else if (upper ? j < i : j > i)
              to[i * n + j] = T{};
            else
              to[i * n + j] = upper ? conj(memory.a[j * memory.pitch + i]) : memory.a[i * memory.pitch + j];
          }
        return true;
      },
      work_of(n));
}

bool accepts(const Call& call) {
  const Operand& x = call.in[0];
  return x.rank >= 2 && rows_of(x) == columns_of(x) && call.out[0].dtype == x.dtype;
}

uint64_t scratch_size(const Call& call) { return stack_of(call).scratch_size(); }
LocalScratch local_scratch(const Call& call) { return stack_of(call).local_scratch(); }

}  // namespace

KERNEL(cholesky, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts,
       .scratch_size = scratch_size, .local_scratch = local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = cholesky<decltype(zero)>(call); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
