// Eigenvalues and eigenvectors of general matrices: balancing, reduction to Hessenberg form, the QR algorithm, and back
// substitution.
#include "balance.h"
#include "complex_schur.h"
#include "hessenberg.h"
#include "real_schur.h"
#include "triangular_eigenvectors.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
struct Memory {
  ScratchArena scratch;
  T *a, *x, *z, *y, *work, *tau, *t, *column;
  SmallReflection<T>* steps;
  int64_t *place, *powers, *seconds;
  int64_t pitch;
  uint64_t bytes;
  Memory(char* at, int64_t n, bool vectors)
      : scratch(at),
        a(scratch.array<T>(n * pitch_of<T>(n))),
        x(scratch.array<T>(n * pitch_of<T>(n))),
        z(scratch.array<T>(vectors ? n * pitch_of<T>(n) : 0)),
        y(scratch.array<T>(Reflections<T>::block * pitch_of<T>(n))),
        work(scratch.array<T>(larger(hessenberg_work<T>(n), vectors ? packed_size<T>(n, n, n) : 0))),
        tau(scratch.array<T>(n)),
        t(scratch.array<T>(Reflections<T>::t_size(n))),
        column(scratch.array<T>(n)),
        steps(scratch.array<SmallReflection<T>>(n)),
        place(scratch.array<int64_t>(n)),
        powers(scratch.array<int64_t>(n)),
        seconds(scratch.array<int64_t>(vectors ? n : 0)),
        pitch(pitch_of<T>(n)),
        bytes(scratch.bytes()) {}
};

double work_of(int64_t n, bool vectors) {
  return (vectors ? 25 : 10) * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
}

Stack stack_of(const Call& call, bool vectors) {
  const Operand& x = call.in[0];
  uint64_t bytes = 0;
  with_number(x.dtype, [&](auto zero) { bytes = Memory<decltype(zero)>(nullptr, rows_of(x), vectors).bytes; });
  return {stack_size(x), bytes, work_of(rows_of(x), vectors)};
}

template <class T>
void transpose(T* a, int64_t pitch, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) {
      const T other = a[i * pitch + j];
      a[i * pitch + j] = a[j * pitch + i];
      a[j * pitch + i] = other;
    }
}

// The decomposition of one matrix, which is in `memory.a`.
template <class T>
class GeneralEigen {
 public:
  using R = RealOf<T>;

  GeneralEigen(Team& team, const Memory<T>& memory, int64_t n, bool vectors)
      : team_(team), memory_(memory), n_(n), vectors_(vectors), balanced_{memory.a,     memory.pitch,  n,
                                                                          memory.place, memory.powers, memory.column} {}

  // Reduces the matrix to Schur form. Returns false if that does not converge, or the team is stopped.
  bool reduce() {
    if (!balanced_.run(team_)) return false;
    const int64_t begin = balanced_.begin, end = balanced_.end, pitch = memory_.pitch;
    Reflections<T> reflections{memory_.x, pitch, memory_.tau, memory_.t, larger(end - begin - 2, 0), end, begin + 1};
    reduce_to_hessenberg(team_, memory_.a, pitch, n_, begin, end, vectors_, reflections, memory_.y, memory_.work);
    if (team_.error != nullptr) return false;
    if (vectors_) {
      make_q(team_, reflections, memory_.z, pitch, n_, n_, memory_.work);
      transpose(memory_.z, pitch, n_);
    }
    T* const z = vectors_ ? memory_.z : nullptr;
    if constexpr (is_complex_number<T>)
      return ComplexSchur<R>(team_, memory_.a, pitch, n_, z, memory_.steps).run(begin, end);
    else
      return RealSchur<R>(team_, memory_.a, pitch, n_, z, memory_.steps).run(begin, end);
  }

  void store_values(Cx<R>* values) const {
    const PowerOfTwo<R> scale(-balanced_.exponent);
    for (int64_t i = 0; i < n_; ++i) {
      const T* const diagonal = memory_.a + i * memory_.pitch + i;
      if (is_pair(i)) {
        const R part = geometric_mean(real(diagonal[1]), real(diagonal[memory_.pitch]));
        values[i] = scale.times(Cx<R>{real(diagonal[0]), part});
        values[i + 1] = conj(values[i]);
        ++i;
      } else {
        values[i] = scale.times(Cx<R>{real(diagonal[0]), imaginary(diagonal[0])});
      }
    }
  }

  // Stores the eigenvectors as columns. The Schur form is overwritten.
  void store_vectors(Cx<R>* to) {
    const int64_t pitch = memory_.pitch;
    team_.run(n_, larger(1, 131072 / (n_ * n_ + 1)), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) triangular_eigenvector(memory_.a, pitch, n_, j, memory_.x);
    });
    // Which rows are pairs is needed after the product has overwritten the Schur form.
    int64_t* const seconds = memory_.seconds;
    for (int64_t j = 0; j < n_; ++j) seconds[j] = j > 0 && is_pair(j - 1);
    constexpr int64_t block = 64;
    for (int64_t first = 0; first < n_; first += block) {
      const int64_t rows = smaller(block, n_ - first);
      // A pair may straddle two blocks: its first row has one more element.
      const int64_t depth = smaller(first + rows + 1, n_);
      multiply<T>(team_, rows, n_, depth, {memory_.x + first * pitch, pitch, 1}, {memory_.z, pitch, 1},
                  memory_.a + first * pitch, pitch, Store::replace, memory_.work);
    }
    team_.run(n_, larger(1, 16384 / n_), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        if (seconds[j] == 0) normalize(j, j + 1 < n_ && seconds[j + 1] != 0);
    });
    for (int64_t i = 0; i < n_; ++i) {
      Cx<R>* const row = to + balanced_.place[i] * n_;
      for (int64_t j = 0; j < n_; ++j) {
        const T element = memory_.a[j * pitch + i];
        row[j] = {real(element), imaginary(element)};
        if (seconds[j] == 0) continue;
        row[j - 1].im = real(element);
        row[j] = conj(row[j - 1]);
      }
    }
  }

 private:
  bool is_pair(int64_t i) const {
    return !is_complex_number<T> && i + 1 < n_ && !is_zero(memory_.a[(i + 1) * memory_.pitch + i]);
  }

  // Reverses the scaling of row j, or of j and j + 1 as a real and an imaginary part, and makes its norm 1 and its
  // largest element real.
  void normalize(int64_t j, bool is_pair) {
    T* const x = memory_.a + j * memory_.pitch;
    T* const y = is_pair ? x + memory_.pitch : nullptr;
    if (balanced_.is_scaled) unscale(x, y);
    const R length = is_pair ? hypotenuse(norm(n_, x), norm(n_, y)) : norm(n_, x);
    scale(n_, number<T>(1 / length), x);
    if (is_pair) scale(n_, number<T>(1 / length), y);
    if constexpr (is_complex_number<T>) {
      int64_t largest = 0;
      R most = 0;
      for (int64_t i = 0; i < n_; ++i) {
        const R square = x[i].re * x[i].re + x[i].im * x[i].im;
        if (square > most) {
          most = square;
          largest = i;
        }
      }
      scale(n_, (1 / root(most)) * conj(x[largest]), x);
      x[largest].im = 0;
    } else if (is_pair) {
      int64_t largest = 0;
      R most = 0;
      for (int64_t i = 0; i < n_; ++i) {
        const R square = x[i] * x[i] + y[i] * y[i];
        if (square > most) {
          most = square;
          largest = i;
        }
      }
      const R cosine = x[largest] / root(most), sine = y[largest] / root(most);
      rotate(n_, x, y, cosine, sine);
      y[largest] = 0;
    }
  }
  void unscale(T* x, T* y) const {
    int64_t most = INT64_MIN;
    const auto see = [&](R size, int64_t power) {
      if (size != 0) most = larger(most, exponent_of(size) + power);
    };
    for (int64_t i = 0; i < n_; ++i) {
      see(size_of_number(x[i]), memory_.powers[i]);
      if (y != nullptr) see(size_of_number(y[i]), memory_.powers[i]);
    }
    for (int64_t i = 0; i < n_; ++i) {
      const PowerOfTwo<R> factor(static_cast<int>(larger(memory_.powers[i] - most, -3000)));
      x[i] = factor.times(x[i]);
      if (y != nullptr) y[i] = factor.times(y[i]);
    }
  }

  Team& team_;
  const Memory<T>& memory_;
  const int64_t n_;
  const bool vectors_;
  Balanced<T> balanced_;
};

template <class T>
fe_error* eig(const Call& call, bool vectors) {
  using R = RealOf<T>;
  const Operand& x = call.in[0];
  const int64_t n = rows_of(x);
  return stack_of(call, vectors)
      .run(
          call, x, vectors ? "eig" : "eigvals",
          "has no eigenvalues: it contains NaN or infinity, or the iteration does not converge",
          [&](Team& team, int64_t matrix, char* scratch) {
            if (n == 0) return true;
            const Memory<T> memory(scratch, n, vectors);
            const T* const from = reinterpret_cast<const T*>(x.data) + matrix * n * n;
            for (int64_t i = 0; i < n; ++i)
              if (!all_finite(n, from + i * n)) return false;
            copy_matrix(from, n, n, n, memory.a, memory.pitch);
            GeneralEigen<T> eigen(team, memory, n, vectors);
            if (!eigen.reduce()) return false;
            eigen.store_values(reinterpret_cast<Cx<R>*>(call.out[0].data) + matrix * n);
            if (vectors) eigen.store_vectors(reinterpret_cast<Cx<R>*>(call.out[1].data) + matrix * n * n);
            return true;
          },
          work_of(n, vectors));
}

// The dtype of complex numbers with such parts.
constexpr DType complex_dtype(DType dtype) {
  return dtype == DType::f32 ? DType::c64 : dtype == DType::f64 ? DType::c128 : dtype;
}

bool accepts_eig(const Call& call) {
  const Operand& x = call.in[0];
  return x.rank >= 2 && rows_of(x) == columns_of(x) && call.out_count == 2 &&
         call.out[0].dtype == complex_dtype(x.dtype) && call.out[1].dtype == complex_dtype(x.dtype);
}
bool accepts_eigvals(const Call& call) {
  const Operand& x = call.in[0];
  return x.rank >= 2 && rows_of(x) == columns_of(x) && call.out[0].dtype == complex_dtype(x.dtype);
}

uint64_t vectors_scratch_size(const Call& call) { return stack_of(call, true).scratch_size(); }
LocalScratch vectors_local_scratch(const Call& call) { return stack_of(call, true).local_scratch(); }
uint64_t values_scratch_size(const Call& call) { return stack_of(call, false).scratch_size(); }
LocalScratch values_local_scratch(const Call& call) { return stack_of(call, false).local_scratch(); }

}  // namespace

KERNEL(eig, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_eig,
       .scratch_size = vectors_scratch_size, .local_scratch = vectors_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = eig<decltype(zero)>(call, true); });
  return error;
}

KERNEL(eigvals, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_eigvals,
       .scratch_size = values_scratch_size, .local_scratch = values_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = eig<decltype(zero)>(call, false); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
