// The singular value decomposition: reduction to a real bidiagonal matrix by blocks of reflections (LAPACK's labrd),
// then its decomposition.
#include "../op_attributes.h"
#include "bidiagonal_svd.h"
#include "householder_qr.h"
#include "reflectors.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The decomposition of a tall matrix, m >= n: of x, or of its conjugate transpose.
struct Sizes {
  int64_t rows, columns;  // of x
  bool turned, vectors, full;
  int64_t m, n;
  int64_t left;   // columns of the left vectors
  bool reduced;   // much taller than wide: reduced by QR first
  int64_t inner;  // rows of the matrix that becomes bidiagonal

  Sizes(const Operand& x, bool with_vectors, bool with_all)
      : rows(rows_of(x)),
        columns(columns_of(x)),
        turned(rows < columns),
        vectors(with_vectors),
        full(with_all),
        m(larger(rows, columns)),
        n(smaller(rows, columns)),
        left(full ? m : n),
        reduced(m > n + n / 2),
        inner(reduced ? n : m) {}
  double work() const {
    return (vectors ? 6 : 2) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(n) +
           (full ? static_cast<double>(m) * static_cast<double>(m) * static_cast<double>(n) : 0);
  }
};

template <class T>
struct Memory {
  using R = RealOf<T>;
  static constexpr int64_t block = Reflections<T>::block;
  T *a, *x, *y, *u, *v, *work;
  R *left, *right;
  double *d, *e;
  int64_t* order;
  Reflections<T> by_qr, by_left, by_right;
  int64_t pitch, u_pitch, v_pitch, real_pitch, x_pitch, y_pitch;
  uint64_t bytes;
  Memory(char* at, const Sizes& s) {
    ScratchArena scratch(at);
    const int64_t n = s.n;
    pitch = pitch_of<T>(n);
    u_pitch = pitch_of<T>(s.left);
    v_pitch = pitch_of<T>(n);
    real_pitch = pitch_of<R>(n);
    x_pitch = pitch_of<T>(s.inner);
    y_pitch = pitch_of<T>(n);
    a = scratch.array<T>(s.m * pitch);
    x = scratch.array<T>(block * x_pitch);
    y = scratch.array<T>(block * y_pitch);
    u = scratch.array<T>(s.vectors ? s.m * u_pitch : 0);
    v = scratch.array<T>(s.vectors ? n * v_pitch : 0);
    left = scratch.array<R>(s.vectors ? n * real_pitch : 0);
    right = scratch.array<R>(s.vectors ? n * real_pitch : 0);
    d = scratch.array<double>(n);
    e = scratch.array<double>(n);
    order = scratch.array<int64_t>(n);
    const auto reflections = [&](int64_t count, int64_t length, int64_t offset) {
      const int64_t ldv = pitch_of<T>(length);
      return Reflections<T>{scratch.array<T>(count * ldv),
                            ldv,
                            scratch.array<T>(count),
                            scratch.array<T>(Reflections<T>::t_size(count)),
                            count,
                            length,
                            offset};
    };
    by_qr = reflections(s.reduced ? n : 0, s.m, 0);
    by_left = reflections(n, s.inner, 0);
    by_right = reflections(n > 1 ? n - 1 : 0, n, 1);
    int64_t most =
        larger(Reflections<T>::work_size(s.m, larger(n, s.vectors ? s.left : 0)), packed_size<T>(s.inner, n, block));
    work = scratch.array<T>(most);
    bytes = scratch.bytes();
  }
};

// Reduces row-major a (m x n, m >= n) to the upper bidiagonal Q^H a P. During a block,
// current a = a - sum u_j y_j^H - sum x_j p_j^H.
template <class T>
void reduce(Team& team, const Memory<T>& memory, int64_t m, int64_t n) {
  using R = RealOf<T>;
  const int64_t pitch = memory.pitch;
  T* const a = memory.a;
  const Reflections<T>&by_left = memory.by_left, &by_right = memory.by_right;
  for (int64_t first = 0; first < n; first += Memory<T>::block) {
    const int64_t width = smaller(Memory<T>::block, n - first);
    const auto u_of = [&](int64_t j) { return by_left.v + (first + j) * by_left.ldv; };
    const auto p_of = [&](int64_t j) { return by_right.v + (first + j) * by_right.ldv; };
    const auto x_of = [&](int64_t j) { return memory.x + j * memory.x_pitch; };
    const auto y_of = [&](int64_t j) { return memory.y + j * memory.y_pitch; };
    for (int64_t j = 0; j < width && !team.is_stopped(); ++j) {
      const int64_t k = first + j, after = k + 1, rest = n - after;
      T* const u = u_of(j);
      for (int64_t i = k; i < m; ++i) u[i] = a[i * pitch + k];
      for (int64_t l = 0; l < j; ++l) {
        add_scaled(m - k, -conj(y_of(l)[k]), u_of(l) + k, u + k);
        add_scaled(m - k, -conj(p_of(l)[k]), x_of(l) + k, u + k);
      }
      R beta;
      const T tau = make_reflection(m - k, u + k, beta);
      by_left.tau[k] = tau;
      memory.d[k] = static_cast<double>(beta);
      if (rest <= 0) continue;
      // y = tau (current a)^H u
      T* const y = y_of(j);
      team.run(rest, larger(32, 32768 / (m - k)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[after + i] = T{};
        for (int64_t i = k; i < m; ++i)
          add_scaled(end - begin, conj(u[i]), a + i * pitch + after + begin, y + after + begin);
        for (int64_t i = begin; i < end; ++i) y[after + i] = conj(y[after + i]);
      });
      for (int64_t l = 0; l < j; ++l) {
        add_scaled(rest, -dot_with_conj(m - k, u_of(l) + k, u + k), y_of(l) + after, y + after);
        add_scaled(rest, -dot_with_conj(m - k, x_of(l) + k, u + k), p_of(l) + after, y + after);
      }
      scale(rest, tau, y + after);
      // The conjugated row k of the current a.
      T* const p = p_of(j);
      for (int64_t i = after; i < n; ++i) p[i] = conj(a[k * pitch + i]);
      for (int64_t l = 0; l <= j; ++l) add_scaled(rest, -conj(u_of(l)[k]), y_of(l) + after, p + after);
      for (int64_t l = 0; l < j; ++l) add_scaled(rest, -conj(x_of(l)[k]), p_of(l) + after, p + after);
      const T factor = make_reflection(rest, p + after, beta);
      by_right.tau[k] = factor;
      memory.e[k] = static_cast<double>(beta);
      // x = factor (current a) p
      T* const x = x_of(j);
      const int64_t below = m - after;
      team.run(below, larger(16, 32768 / rest), [&](int64_t begin, int64_t end) {
        for (int64_t i = after + begin; i < after + end; ++i) x[i] = dot(rest, a + i * pitch + after, p + after);
      });
      for (int64_t l = 0; l <= j; ++l)
        add_scaled(below, -dot_with_conj(rest, y_of(l) + after, p + after), u_of(l) + after, x + after);
      for (int64_t l = 0; l < j; ++l)
        add_scaled(below, -dot_with_conj(rest, p_of(l) + after, p + after), x_of(l) + after, x + after);
      scale(below, factor, x + after);
    }
    const int64_t after = first + width;
    if (after >= n) break;
    T* const trailing = a + after * pitch + after;
    multiply<T>(team, m - after, n - after, width, {u_of(0) + after, 1, by_left.ldv},
                {y_of(0) + after, memory.y_pitch, 1, true}, trailing, pitch, Store::subtract, memory.work);
    multiply<T>(team, m - after, n - after, width, {x_of(0) + after, 1, memory.x_pitch},
                {p_of(0) + after, by_right.ldv, 1, true}, trailing, pitch, Store::subtract, memory.work);
  }
}

void sort_descending(int64_t n, const double* d, int64_t* order) {
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
    for (int64_t i = gap; i < n; ++i) {
      const int64_t moved = order[i];
      int64_t at = i;
      for (; at >= gap && d[order[at - gap]] < d[moved]; at -= gap) order[at] = order[at - gap];
      order[at] = moved;
    }
}

template <class T>
bool decompose(Team& team, const Sizes& s, const T* from, T* u_out, RealOf<T>* values, T* vh_out, char* scratch) {
  using R = RealOf<T>;
  Memory<T> memory(scratch, s);
  const int64_t m = s.m, n = s.n, pitch = memory.pitch;
  if (!all_finite(m * n, from)) return false;
  const R factor = rescaling(largest_part(m * n, from));
  for (int64_t i = 0; i < s.rows; ++i)
    for (int64_t j = 0; j < s.columns; ++j) {
      const T x = factor * from[i * s.columns + j];
      memory.a[s.turned ? j * pitch + i : i * pitch + j] = s.turned ? conj(x) : x;
    }
  if (s.reduced) {
    decompose_qr(team, memory.a, pitch, m, n, memory.by_qr, memory.work);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) memory.a[i * pitch + j] = T{};
  }
  reduce(team, memory, s.inner, n);
  if (team.error != nullptr) return false;
  if (s.vectors)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        memory.left[i * memory.real_pitch + j] = memory.right[i * memory.real_pitch + j] = i == j ? R(1) : R(0);
  if (!iterate_bidiagonal<R>(team, n, memory.d, memory.e, s.vectors ? memory.left : nullptr, memory.real_pitch, n,
                             s.vectors ? memory.right : nullptr, memory.real_pitch, n))
    return false;
  sort_descending(n, memory.d, memory.order);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<R>(memory.d[memory.order[i]]) / factor;
  if (!s.vectors) return true;

  // U = Q (left vectors, and the identity for those that full matrices add); V = P (right vectors).
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < s.left; ++j)
      memory.u[i * memory.u_pitch + j] = j >= n  ? number<T>(i == j ? 1 : 0)
                                         : i < n ? number<T>(memory.left[memory.order[j] * memory.real_pitch + i])
                                                 : T{};
  memory.by_left.prepare_all(team);
  memory.by_left.apply(team, false, memory.u, memory.u_pitch, s.left, memory.work);
  if (s.reduced) memory.by_qr.apply(team, false, memory.u, memory.u_pitch, s.left, memory.work);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      memory.v[i * memory.v_pitch + j] = number<T>(memory.right[memory.order[j] * memory.real_pitch + i]);
  memory.by_right.prepare_all(team);
  memory.by_right.apply(team, false, memory.v, memory.v_pitch, n, memory.work);

  // x = U S V^H; or x^H = U S V^H, and so x = V S U^H.
  const T* const left = s.turned ? memory.v : memory.u;
  const T* const right = s.turned ? memory.u : memory.v;
  const int64_t left_pitch = s.turned ? memory.v_pitch : memory.u_pitch,
                right_pitch = s.turned ? memory.u_pitch : memory.v_pitch;
  const int64_t left_count = s.turned ? n : s.left, right_count = s.turned ? s.left : n;
  copy_matrix(left, left_pitch, s.rows, left_count, u_out, left_count);
  for (int64_t i = 0; i < right_count; ++i)
    for (int64_t j = 0; j < s.columns; ++j) vh_out[i * s.columns + j] = conj(right[j * right_pitch + i]);
  return true;
}

constexpr const char* no_values =
    "has no singular values: it contains NaN or infinity, or the iteration does not converge";

Stack stack_of(const Operand& x, const Sizes& sizes) {
  uint64_t bytes = 0;
  with_number(x.dtype, [&](auto zero) { bytes = Memory<decltype(zero)>(nullptr, sizes).bytes; });
  return {stack_size(x), bytes, sizes.work()};
}
Sizes sizes_of(const Call& call) {
  return {call.in[0], true, attributes_of<fe_svd_attributes>(call).full_matrices != 0};
}
Stack svd_stack(const Call& call) { return stack_of(call.in[0], sizes_of(call)); }
Stack values_stack(const Call& call) { return stack_of(call.in[0], Sizes(call.in[0], false, false)); }

template <class T>
fe_error* svd(const Call& call) {
  const Operand& x = call.in[0];
  const Sizes s = sizes_of(call);
  const int64_t u_size = s.rows * columns_of(call.out[0]), vh_size = rows_of(call.out[2]) * s.columns;
  return svd_stack(call).run(
      call, x, "svd", no_values,
      [&](Team& team, int64_t matrix, char* scratch) {
        return decompose(team, s, reinterpret_cast<const T*>(x.data) + matrix * s.m * s.n,
                         reinterpret_cast<T*>(call.out[0].data) + matrix * u_size,
                         reinterpret_cast<RealOf<T>*>(call.out[1].data) + matrix * s.n,
                         reinterpret_cast<T*>(call.out[2].data) + matrix * vh_size, scratch);
      },
      s.work());
}

template <class T>
fe_error* svdvals(const Call& call) {
  const Operand& x = call.in[0];
  const Sizes s(x, false, false);
  return values_stack(call).run(
      call, x, "svdvals", no_values,
      [&](Team& team, int64_t matrix, char* scratch) {
        return decompose<T>(team, s, reinterpret_cast<const T*>(x.data) + matrix * s.m * s.n, nullptr,
                            reinterpret_cast<RealOf<T>*>(call.out[0].data) + matrix * s.n, nullptr, scratch);
      },
      s.work());
}

bool accepts_svd(const Call& call) {
  const Operand& x = call.in[0];
  return x.rank >= 2 && call.out_count == 3 && call.out[0].dtype == x.dtype &&
         call.out[1].dtype == real_dtype(x.dtype) && call.out[2].dtype == x.dtype && call.out[0].rank == x.rank &&
         call.out[2].rank == x.rank;
}
bool accepts_values(const Call& call) {
  return call.in[0].rank >= 2 && call.out[0].dtype == real_dtype(call.in[0].dtype);
}

uint64_t svd_scratch_size(const Call& call) { return svd_stack(call).scratch_size(); }
LocalScratch svd_local_scratch(const Call& call) { return svd_stack(call).local_scratch(); }
uint64_t values_scratch_size(const Call& call) { return values_stack(call).scratch_size(); }
LocalScratch values_local_scratch(const Call& call) { return values_stack(call).local_scratch(); }

}  // namespace

KERNEL(svd, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_svd,
       .scratch_size = svd_scratch_size, .local_scratch = svd_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = svd<decltype(zero)>(call); });
  return error;
}

KERNEL(svdvals, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_values,
       .scratch_size = values_scratch_size, .local_scratch = values_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = svdvals<decltype(zero)>(call); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
