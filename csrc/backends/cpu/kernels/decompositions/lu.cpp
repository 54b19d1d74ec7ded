// Solutions of linear equations, inverses and determinants, by LU decomposition with partial pivoting.
#include "balance.h"
#include "matrices.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t panel_width = 16;

// x / pivot, also where the inverse of a subnormal pivot overflows.
template <class T>
void divide(int64_t n, T pivot, T* x) {
  using R = RealOf<T>;
  if (size_of_number(pivot) >= least_normal_of<R>) return scale(n, inverse(pivot), x);
  constexpr R large = R(1) / epsilon_of<R>;
  const T inverse_of_large = inverse(large * pivot);
  for (int64_t i = 0; i < n; ++i) x[i] = inverse_of_large * (large * x[i]);
}

// Factors columns [first, first + width) of a row-major matrix of n rows, below row `first`, and exchanges whole rows.
// `panel` is memory for them by columns. Returns false if a pivot is zero.
template <class T>
bool factor_panel(T* a, int64_t lda, int64_t n, int64_t first, int64_t width, int64_t* pivots, T* panel) {
  const int64_t rows = n - first;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) panel[j * rows + i] = a[(first + i) * lda + first + j];
  bool regular = true;
  for (int64_t j = 0; j < width; ++j) {
    T* const column = panel + j * rows;
    int64_t best = j;
    RealOf<T> most = size_of_number(column[j]);
    for (int64_t i = j + 1; i < rows; ++i) {
      const RealOf<T> size = size_of_number(column[i]);
      if (size > most) {
        most = size;
        best = i;
      }
    }
    pivots[first + j] = first + best;
    if (best != j)
      for (int64_t k = 0; k < width; ++k) {
        const T other = panel[k * rows + j];
        panel[k * rows + j] = panel[k * rows + best];
        panel[k * rows + best] = other;
      }
    if (is_zero(column[j])) {
      regular = false;
      continue;
    }
    divide(rows - j - 1, column[j], column + j + 1);
    for (int64_t k = j + 1; k < width; ++k)
      add_scaled(rows - j - 1, -panel[k * rows + j], column + j + 1, panel + k * rows + j + 1);
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) a[(first + i) * lda + first + j] = panel[j * rows + i];
  return regular;
}

// A[i, :] -= sum of L[i, j] A[j, :] over the rows above, within a block of rows.
template <class T>
void solve_unit_lower(const T* l, int64_t ldl, int64_t rows, T* a, int64_t lda, int64_t columns) {
  for (int64_t i = 1; i < rows; ++i)
    for (int64_t j = 0; j < i; ++j) add_scaled(columns, -l[i * ldl + j], a + j * lda, a + i * lda);
}

template <class T>
void exchange_rows(T* a, int64_t lda, int64_t begin, int64_t end, const int64_t* pivots, int64_t first, int64_t count) {
  for (int64_t i = first; i < first + count; ++i) {
    if (pivots[i] == i) continue;
    T *x = a + i * lda, *y = a + pivots[i] * lda;
    for (int64_t k = begin; k < end; ++k) {
      const T other = x[k];
      x[k] = y[k];
      y[k] = other;
    }
  }
}

// PA = LU in place. Returns false if U is singular.
template <class T>
bool factor(Team& team, T* a, int64_t lda, int64_t n, int64_t* pivots, T* work) {
  bool regular = true;
  for (int64_t first = 0; first < n && !team.is_stopped(); first += panel_width) {
    const int64_t width = smaller(panel_width, n - first), after = first + width;
    regular &= factor_panel(a, lda, n, first, width, pivots, work);
    const int64_t rest = n - after;
    exchange_rows(a, lda, int64_t{0}, first, pivots, first, width);
    team.run(rest, larger(32, 20000 / (panel_width * panel_width)), [&](int64_t begin, int64_t end) {
      exchange_rows(a, lda, after + begin, after + end, pivots, first, width);
      solve_unit_lower(a + first * lda + first, lda, width, a + first * lda + after + begin, lda, end - begin);
    });
    multiply<T>(team, rest, rest, width, {a + after * lda + first, lda, 1}, {a + first * lda + after, lda, 1},
                a + after * lda + after, lda, Store::subtract, work);
  }
  return regular && team.error == nullptr;
}
template <class T>
int64_t factor_work(int64_t n) {
  return larger(panel_width * n, packed_size<T>(n, n, panel_width));
}

constexpr int64_t solve_block = 32;

// X = U^-1 L^-1 X for `columns` right-hand sides, in place.
template <class T>
void substitute(Team& team, const T* lu, int64_t ld, int64_t n, T* x, int64_t ldx, int64_t columns, T* work) {
  const auto upper_block = [&](int64_t first, int64_t rows, int64_t begin, int64_t end) {
    for (int64_t i = first + rows; i-- > first;) {
      T* const row = x + i * ldx + begin;
      for (int64_t j = i + 1; j < first + rows; ++j) add_scaled(end - begin, -lu[i * ld + j], x + j * ldx + begin, row);
      divide(end - begin, lu[i * ld + i], row);
    }
  };
  const int64_t grain = larger(32, 20000 / (solve_block * solve_block));
  for (int64_t first = 0; first < n; first += solve_block) {
    const int64_t rows = smaller(solve_block, n - first);
    multiply<T>(team, rows, columns, first, {lu + first * ld, ld, 1}, {x, ldx, 1}, x + first * ldx, ldx,
                Store::subtract, work);
    team.run(columns, grain, [&](int64_t begin, int64_t end) {
      solve_unit_lower(lu + first * ld + first, ld, rows, x + first * ldx + begin, ldx, end - begin);
    });
  }
  for (int64_t first = (ceil_div(n, solve_block) - 1) * solve_block; first >= 0; first -= solve_block) {
    const int64_t rows = smaller(solve_block, n - first), after = first + rows;
    multiply<T>(team, rows, columns, n - after, {lu + first * ld + after, ld, 1}, {x + after * ldx, ldx, 1},
                x + first * ldx, ldx, Store::subtract, work);
    team.run(columns, grain, [&](int64_t begin, int64_t end) { upper_block(first, rows, begin, end); });
  }
}
// x = U^-1 L^-1 x for one contiguous right-hand side, in place.
template <class T>
void substitute_vector(const T* lu, int64_t ld, int64_t n, T* x) {
  for (int64_t i = 1; i < n; ++i) x[i] = x[i] - dot(i, lu + i * ld, x);
  for (int64_t i = n; i-- > 0;) {
    x[i] = x[i] - dot(n - i - 1, lu + i * ld + i + 1, x + i + 1);
    divide(1, lu[i * ld + i], x + i);
  }
}
template <class T>
int64_t substitute_work(int64_t n, int64_t columns) {
  return packed_size<T>(solve_block, columns, n);
}

double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

// The scratch memory of one matrix.
template <class T>
struct Memory {
  T *lu, *x, *work;
  int64_t* pivots;
  int64_t pitch, x_pitch;
  uint64_t bytes;
  Memory(char* at, int64_t n, int64_t columns) : pitch(pitch_of<T>(n)), x_pitch(pitch_of<T>(columns)) {
    ScratchArena scratch(at);
    lu = scratch.array<T>(n * pitch);
    x = scratch.array<T>(columns > 0 ? n * x_pitch : 0);
    work = scratch.array<T>(larger(factor_work<T>(n), columns > 1 ? substitute_work<T>(n, columns) : 0));
    pivots = scratch.array<int64_t>(n);
    bytes = scratch.bytes();
  }
};

template <class T>
Stack stack_of(int64_t count, int64_t n, int64_t columns) {
  return {count, Memory<T>(nullptr, n, columns).bytes,
          cube(n) / 3 + cube(n) / static_cast<double>(n + 1) * static_cast<double>(columns)};
}

bool is_square(const Operand& x) { return x.rank >= 2 && rows_of(x) == columns_of(x); }

// The index of a matrix of a stack that broadcasts to the stack of `whole`.
int64_t broadcast_index(const Operand& x, const Operand& whole, int64_t index) {
  int64_t at = 0, step = 1;
  for (int32_t axis = whole.rank - 2; axis-- > 0;) {
    const int32_t own = axis - (whole.rank - x.rank);
    const int64_t place = index % whole.shape[axis];
    index /= whole.shape[axis];
    if (own < 0) continue;
    if (x.shape[own] != 1) at += place * step;
    step *= x.shape[own];
  }
  return at;
}

template <class T>
fe_error* solve(const Call& call) {
  const Operand &a = call.in[0], &b = call.in[1], &out = call.out[0];
  const int64_t n = rows_of(a), columns = columns_of(b);
  const double work = cube(n) / 3;
  return stack_of<T>(stack_size(out), n, columns)
      .run(
          call, out, "solve", "is singular",
          [&](Team& team, int64_t matrix, char* scratch) {
            const Memory<T> memory(scratch, n, columns);
            copy_matrix(reinterpret_cast<const T*>(a.data) + broadcast_index(a, out, matrix) * n * n, n, n, n,
                        memory.lu, memory.pitch);
            T* const x = reinterpret_cast<T*>(out.data) + matrix * n * columns;
            if (!factor(team, memory.lu, memory.pitch, n, memory.pivots, memory.work)) return n == 0;
            copy_matrix(reinterpret_cast<const T*>(b.data) + broadcast_index(b, out, matrix) * n * columns, columns, n,
                        columns, memory.x, columns == 1 ? 1 : memory.x_pitch);
            const int64_t pitch = columns == 1 ? 1 : memory.x_pitch;
            exchange_rows(memory.x, pitch, int64_t{0}, columns, memory.pivots, int64_t{0}, n);
            if (columns == 1)
              substitute_vector(memory.lu, memory.pitch, n, memory.x);
            else
              substitute(team, memory.lu, memory.pitch, n, memory.x, pitch, columns, memory.work);
            copy_matrix(memory.x, pitch, n, columns, x, columns);
            return true;
          },
          work);
}

template <class T>
fe_error* inv(const Call& call) {
  const Operand &a = call.in[0], &out = call.out[0];
  const int64_t n = rows_of(a);
  return stack_of<T>(stack_size(a), n, n)
      .run(
          call, a, "inv", "is singular",
          [&](Team& team, int64_t matrix, char* scratch) {
            const Memory<T> memory(scratch, n, n);
            copy_matrix(reinterpret_cast<const T*>(a.data) + matrix * n * n, n, n, n, memory.lu, memory.pitch);
            if (!factor(team, memory.lu, memory.pitch, n, memory.pivots, memory.work)) return n == 0;
            for (int64_t i = 0; i < n; ++i) {
              for (int64_t j = 0; j < n; ++j) memory.x[i * memory.x_pitch + j] = T{};
              memory.x[i * memory.x_pitch + i] = number<T>(1);
            }
            exchange_rows(memory.x, memory.x_pitch, int64_t{0}, n, memory.pivots, int64_t{0}, n);
            substitute(team, memory.lu, memory.pitch, n, memory.x, memory.x_pitch, n, memory.work);
            copy_matrix(memory.x, memory.x_pitch, n, n, reinterpret_cast<T*>(out.data) + matrix * n * n, n);
            return true;
          },
          cube(n));
}

// Calls found(matrix, lu, pitch, is_odd): is_odd tells whether the number of exchanges is odd.
template <class T, class Found>
fe_error* with_factors(const Call& call, Found found) {
  const Operand& a = call.in[0];
  const int64_t n = rows_of(a);
  return stack_of<T>(stack_size(a), n, 0)
      .run(
          call, a, "", "",
          [&](Team& team, int64_t matrix, char* scratch) {
            const Memory<T> memory(scratch, n, 0);
            copy_matrix(reinterpret_cast<const T*>(a.data) + matrix * n * n, n, n, n, memory.lu, memory.pitch);
            factor(team, memory.lu, memory.pitch, n, memory.pivots, memory.work);
            bool is_odd = false;
            for (int64_t i = 0; i < n; ++i) is_odd ^= memory.pivots[i] != i;
            found(matrix, memory.lu, memory.pitch, is_odd);
            return true;
          },
          cube(n) / 3);
}

// A product of numbers that may be in range although the products of the first ones are not: the last one and its
// factors are kept between 1/2 and 2, beside a power of two. Its bits are those of the products where these are normal.
template <class T>
class WideProduct {
 public:
  explicit WideProduct(T first) : product_(first) {}
  void multiply(T x) {
    product_ = product_ * moved_near_one(x);
    product_ = moved_near_one(product_);
  }
  T value() const { return times_power(product_, larger(-most, smaller(most, exponent_))); }

 private:
  static constexpr int64_t most = 4096;  // beyond the range of any number

  T moved_near_one(T x) {
    const auto size = size_of_number(x);
    if (size == 0 || size - size != 0) return x;
    const int exponent = exponent_of(size);
    exponent_ += exponent;
    return times_power(x, -exponent);
  }
  static T times_power(T x, int64_t exponent) {
    const int places = static_cast<int>(exponent);
    if constexpr (is_complex_number<T>)
      return {times_power_of_two(x.re, places), times_power_of_two(x.im, places)};
    else
      return times_power_of_two(x, places);
  }

  T product_;
  int64_t exponent_ = 0;
};

template <class T>
fe_error* det(const Call& call) {
  const int64_t n = rows_of(call.in[0]);
  return with_factors<T>(call, [&](int64_t matrix, const T* lu, int64_t pitch, bool is_odd) {
    WideProduct<T> product(number<T>(is_odd ? -1 : 1));
    for (int64_t i = 0; i < n; ++i) product.multiply(lu[i * pitch + i]);
    reinterpret_cast<T*>(call.out[0].data)[matrix] = product.value();
  });
}

template <class T>
fe_error* slogdet(const Call& call) {
  using R = RealOf<T>;
  const int64_t n = rows_of(call.in[0]);
  return with_factors<T>(call, [&](int64_t matrix, const T* lu, int64_t pitch, bool is_odd) {
    T sign = number<T>(is_odd ? -1 : 1);
    R sum = 0;
    bool is_singular = false;
    for (int64_t i = 0; i < n; ++i) {
      const T x = lu[i * pitch + i];
      const R size = absolute(x);
      is_singular |= size == 0;
      if constexpr (is_complex_number<T>)
        sign = sign * Cx<R>{x.re / size, x.im / size};
      else
        sign = x < 0 ? -sign : size == size ? sign : x;
      sum += static_cast<R>(log(static_cast<double>(size)));
    }
    reinterpret_cast<T*>(call.out[0].data)[matrix] = is_singular ? T{} : sign;
    reinterpret_cast<R*>(call.out[1].data)[matrix] = is_singular ? -static_cast<R>(__builtin_inf()) : sum;
  });
}

Stack solve_stack(const Call& call) {
  Stack stack(0, 0, 0);
  with_number(call.in[0].dtype, [&](auto zero) {
    stack = stack_of<decltype(zero)>(stack_size(call.out[0]), rows_of(call.in[0]), columns_of(call.in[1]));
  });
  return stack;
}
Stack inverse_stack(const Call& call) {
  Stack stack(0, 0, 0);
  with_number(call.in[0].dtype, [&](auto zero) {
    stack = stack_of<decltype(zero)>(stack_size(call.in[0]), rows_of(call.in[0]), rows_of(call.in[0]));
  });
  return stack;
}
Stack determinant_stack(const Call& call) {
  Stack stack(0, 0, 0);
  with_number(call.in[0].dtype,
              [&](auto zero) { stack = stack_of<decltype(zero)>(stack_size(call.in[0]), rows_of(call.in[0]), 0); });
  return stack;
}

bool accepts_solve(const Call& call) {
  const Operand &a = call.in[0], &b = call.in[1], &out = call.out[0];
  return is_square(a) && b.rank >= 2 && rows_of(b) == rows_of(a) && b.dtype == a.dtype && out.dtype == a.dtype &&
         out.rank >= a.rank && out.rank >= b.rank && rows_of(out) == rows_of(b) && columns_of(out) == columns_of(b);
}
bool accepts_inverse(const Call& call) { return is_square(call.in[0]) && call.out[0].dtype == call.in[0].dtype; }
bool accepts_slogdet(const Call& call) {
  return is_square(call.in[0]) && call.out_count == 2 && call.out[0].dtype == call.in[0].dtype &&
         call.out[1].dtype == real_dtype(call.in[0].dtype);
}

uint64_t solve_scratch_size(const Call& call) { return solve_stack(call).scratch_size(); }
LocalScratch solve_local_scratch(const Call& call) { return solve_stack(call).local_scratch(); }
uint64_t inverse_scratch_size(const Call& call) { return inverse_stack(call).scratch_size(); }
LocalScratch inverse_local_scratch(const Call& call) { return inverse_stack(call).local_scratch(); }
uint64_t determinant_scratch_size(const Call& call) { return determinant_stack(call).scratch_size(); }
LocalScratch determinant_local_scratch(const Call& call) { return determinant_stack(call).local_scratch(); }

}  // namespace

KERNEL(solve, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_solve,
       .scratch_size = solve_scratch_size, .local_scratch = solve_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = solve<decltype(zero)>(call); });
  return error;
}

KERNEL(inv, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_inverse,
       .scratch_size = inverse_scratch_size, .local_scratch = inverse_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = inv<decltype(zero)>(call); });
  return error;
}

KERNEL(det, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_inverse,
       .scratch_size = determinant_scratch_size, .local_scratch = determinant_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = det<decltype(zero)>(call); });
  return error;
}

KERNEL(slogdet, .dtypes = decomposable, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_slogdet,
       .scratch_size = determinant_scratch_size, .local_scratch = determinant_local_scratch) {
  fe_error* error = nullptr;
  with_number(call.in[0].dtype, [&](auto zero) { error = slogdet<decltype(zero)>(call); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
