// Eigenvalues and eigenvectors of Hermitian matrices: reduction to a real tridiagonal matrix by blocks of reflections
// (LAPACK's latrd), then divide and conquer.
#include "reflectors.h"
#include "tridiagonal_eigen.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
struct Memory {
  using R = RealOf<T>;
  static constexpr int64_t block = Reflections<T>::block;
  ScratchArena scratch;
  T *a, *w, *work;
  Reflections<T> reflections;
  double *d, *e;
  int64_t pitch;
  typename DivideAndConquer<R>::Arrays arrays;
  uint64_t bytes;
  Memory(char* at, int64_t n, bool vectors)
      : scratch(at),
        a(scratch.array<T>(n * pitch_of<T>(n))),
        w(scratch.array<T>(block * pitch_of<T>(n))),
        work(scratch.array<T>(larger(packed_size<T>(n, n, block), Reflections<T>::work_size(n, vectors ? n : 0)))),
        reflections{scratch.array<T>(n * pitch_of<T>(n)),
                    pitch_of<T>(n),
                    scratch.array<T>(n),
                    scratch.array<T>(Reflections<T>::t_size(n)),
                    larger(n - 1, 0),
                    n,
                    1},
        d(scratch.array<double>(n)),
        e(scratch.array<double>(n)),
        pitch(pitch_of<T>(n)),
        arrays(scratch, vectors ? n : 0),
        bytes(scratch.bytes()) {}
};

// Reduces the Hermitian matrix a, which is given as a whole, to the tridiagonal Q^H a Q.
template <class T>
void reduce(Team& team, const Memory<T>& memory, int64_t n) {
  using R = RealOf<T>;
  const int64_t pitch = memory.pitch;
  T* const a = memory.a;
  T* const v = memory.reflections.v;
  for (int64_t first = 0; first < n - 1; first += Memory<T>::block) {
    const int64_t width = smaller(Memory<T>::block, n - 1 - first);
    for (int64_t j = 0; j < width && !team.is_stopped(); ++j) {
      const int64_t k = first + j, below = k + 1, count = n - below;
      T* const x = v + k * pitch;
      for (int64_t i = k; i < n; ++i) x[i] = conj(a[k * pitch + i]);
      for (int64_t l = 0; l < j; ++l) {
        const T *const vl = v + (first + l) * pitch, *const wl = memory.w + l * pitch;
        add_scaled(n - k, -conj(wl[k]), vl + k, x + k);
        add_scaled(n - k, -conj(vl[k]), wl + k, x + k);
      }
      memory.d[k] = static_cast<double>(real(x[k]));
      R beta;
      const T tau = make_reflection(count, x + below, beta);
      memory.reflections.tau[k] = tau;
      memory.e[k] = static_cast<double>(beta);
      T* const y = memory.w + j * pitch;
      team.run(count, larger(16, 32768 / count), [&](int64_t begin, int64_t end) {
        for (int64_t i = below + begin; i < below + end; ++i) y[i] = dot(count, a + i * pitch + below, x + below);
      });
      for (int64_t l = 0; l < j; ++l) {
        const T *const vl = v + (first + l) * pitch, *const wl = memory.w + l * pitch;
        const T by_w = dot_with_conj(count, wl + below, x + below), by_v = dot_with_conj(count, vl + below, x + below);
        add_scaled(count, -by_w, vl + below, y + below);
        add_scaled(count, -by_v, wl + below, y + below);
      }
      scale(count, tau, y + below);
      const T alpha = R(-0.5) * (tau * dot_with_conj(count, y + below, x + below));
      add_scaled(count, alpha, x + below, y + below);
    }
    const int64_t after = first + width, rest = n - after;
    const T *const vs = v + first * pitch + after, *const ws = memory.w + after;
    T* const trailing = a + after * pitch + after;
    multiply<T>(team, rest, rest, width, {vs, 1, pitch}, {ws, pitch, 1, true}, trailing, pitch, Store::subtract,
                memory.work);
    multiply<T>(team, rest, rest, width, {ws, 1, pitch}, {vs, pitch, 1, true}, trailing, pitch, Store::subtract,
                memory.work);
  }
  if (n > 0) memory.d[n - 1] = static_cast<double>(real(a[(n - 1) * pitch + n - 1]));
}

double work_of(int64_t n) { return 3 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

Stack stack_of(const Call& call, bool vectors) {
  const Operand& x = call.in[0];
  uint64_t bytes = 0;
  with_number(x.dtype, [&](auto zero) { bytes = Memory<decltype(zero)>(nullptr, rows_of(x), vectors).bytes; });
  return {stack_size(x), bytes, work_of(rows_of(x))};
}

void sort_numbers(int64_t n, double* x) {
  for (int64_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
    for (int64_t i = gap; i < n; ++i) {
      const double moved = x[i];
      int64_t at = i;
      for (; at >= gap && x[at - gap] > moved; at -= gap) x[at] = x[at - gap];
      x[at] = moved;
    }
}

template <class T>
fe_error* eigh(const Call& call, bool vectors) {
  using R = RealOf<T>;
  const Operand& x = call.in[0];
  const int64_t n = rows_of(x);
  return stack_of(call, vectors)
      .run(
          call, x, vectors ? "eigh" : "eigvalsh",
          "has no eigenvalues: it contains NaN or infinity, or the iteration does not converge",
          [&](Team& team, int64_t matrix, char* scratch) {
            const Memory<T> memory(scratch, n, vectors);
            const T* const from = reinterpret_cast<const T*>(x.data) + matrix * n * n;
            R largest = 0;
            for (int64_t i = 0; i < n; ++i) {
              if (!all_finite(i + 1, from + i * n)) return false;
              const R most = largest_part(i + 1, from + i * n);
              largest = most > largest ? most : largest;
            }
            const R factor = rescaling(largest);
            for (int64_t i = 0; i < n; ++i)
              for (int64_t j = 0; j <= i; ++j) {
                T element = factor * from[i * n + j];
                if (i == j) element = number<T>(real(element));
                memory.a[i * memory.pitch + j] = element;
                memory.a[j * memory.pitch + i] = conj(element);
              }
            reduce(team, memory, n);
            if (team.error != nullptr) return false;
            R* const values = reinterpret_cast<R*>(call.out[0].data) + matrix * n;
            if (!vectors) {
              const UnitScale scale(n, memory.d, memory.e);
              if (!iterate_ql<R>(n, memory.d, memory.e, nullptr, 0, 0)) return false;
              scale.restore();
              sort_numbers(n, memory.d);
              for (int64_t i = 0; i < n; ++i) values[i] = static_cast<R>(memory.d[i]) / factor;
              return true;
            }
            if (!DivideAndConquer<R>(team, memory.arrays, memory.d, memory.e).run(n)) return false;
            const int64_t* const order = memory.arrays.order;
            for (int64_t i = 0; i < n; ++i) values[i] = static_cast<R>(memory.d[order[i]]) / factor;
            T* const z = memory.a;  // the matrix is no longer needed
            for (int64_t i = 0; i < n; ++i)
              for (int64_t j = 0; j < n; ++j)
                z[i * memory.pitch + j] = number<T>(memory.arrays.vectors[order[j] * memory.arrays.pitch + i]);
            Reflections<T> reflections = memory.reflections;
            reflections.prepare_all(team);
            reflections.apply(team, false, z, memory.pitch, n, memory.work);
            copy_matrix(z, memory.pitch, n, n, reinterpret_cast<T*>(call.out[1].data) + matrix * n * n, n);
            return true;
          },
          work_of(n));
}

bool accepts_eigh(const Call& call) {
  const Operand& x = call.in[0];
  return x.rank >= 2 && rows_of(x) == columns_of(x) && call.out_count == 2 &&
         call.out[0].dtype == real_dtype(x.dtype) && call.out[1].dtype == x.dtype;
}
bool accepts_eigvalsh(const Call& call) {
  const Operand& x = call.in[0];
  return x.rank >= 2 && rows_of(x) == columns_of(x) && call.out[0].dtype == real_dtype(x.dtype);
}

uint64_t vectors_scratch_size(const Call& call) { return stack_of(call, true).scratch_size(); }
LocalScratch vectors_local_scratch(const Call& call) { return stack_of(call, true).local_scratch(); }
uint64_t values_scratch_size(const Call& call) { return stack_of(call, false).scratch_size(); }
LocalScratch values_local_scratch(const Call& call) { return stack_of(call, false).local_scratch(); }

}  // namespace

KERNEL(eigh, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_eigh,
       .scratch_size = vectors_scratch_size, .local_scratch = vectors_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = eigh<decltype(zero)>(call, true); });
  return error;
}

KERNEL(eigvalsh, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_eigvalsh,
       .scratch_size = values_scratch_size, .local_scratch = values_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = eigh<decltype(zero)>(call, false); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
