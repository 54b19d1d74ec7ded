// Eigenvectors of upper triangular matrices, and of real ones with 2 x 2 blocks on the diagonal, by back substitution
// that scales a vector before it overflows.
#pragma once

#include "balance.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// A vector of numbers of a matrix's own type.
template <class T>
struct WholeVector {
  using Number = T;
  T* at;
  T get(int64_t i) const { return at[i]; }
  void set(int64_t i, T x) const { at[i] = x; }
  // Without conjugation: the sum of row[i] x[i] in [begin, end).
  T product(const T* row, int64_t begin, int64_t end) const { return dot(end - begin, row + begin, at + begin); }
  void scale_by(int exponent, int64_t begin, int64_t end) const {
    PowerOfTwo<RealOf<T>>(exponent).scale(end - begin, at + begin);
  }
};
// A complex vector beside a real matrix: the real and the imaginary parts are arrays.
template <class R>
struct SplitVector {
  using Number = Cx<R>;
  R *re, *im;
  Cx<R> get(int64_t i) const { return {re[i], im[i]}; }
  void set(int64_t i, Cx<R> x) const {
    re[i] = x.re;
    im[i] = x.im;
  }
  Cx<R> product(const R* row, int64_t begin, int64_t end) const {
    return {dot(end - begin, row + begin, re + begin), dot(end - begin, row + begin, im + begin)};
  }
  void scale_by(int exponent, int64_t begin, int64_t end) const {
    PowerOfTwo<R>(exponent).scale(end - begin, re + begin);
    PowerOfTwo<R>(exponent).scale(end - begin, im + begin);
  }
};

// Solves (t - value) x = 0 for the elements of x before `end`, where those in [known, end) are given. The largest
// element of t is near 1.
template <class T, class Vector>
class BackSubstitution {
 public:
  using R = RealOf<T>;
  using Number = typename Vector::Number;

  BackSubstitution(const T* t, int64_t pitch, int64_t n, Number value, Vector x, int64_t end)
      : t_(t), pitch_(pitch), value_(value), x_(x), end_(end) {
    const R tiny = least_normal_of<R> * (static_cast<R>(n) / epsilon_of<R>), relative = epsilon_of<R> * size(value);
    least_ = relative > tiny ? relative : tiny;
  }

  void run(int64_t known) {
    for (int64_t i = known; i-- > 0;) {
      if (!is_complex_number<T> && i > 0 && !is_zero(t_[i * pitch_ + i - 1]))
        solve_pair(--i);
      else
        solve_one(i);
    }
    R most = 0;
    for (int64_t i = 0; i < end_; ++i) most = size(x_.get(i)) > most ? size(x_.get(i)) : most;
    x_.scale_by(-exponent_of(most), 0, end_);
  }

 private:
  static constexpr R large = sizeof(R) == 4 ? R(1e12) : R(1e120);  // what products with a row of t stay far below

  static R size(Number x) { return size_of_number(x); }
  Number right_side(int64_t i, int64_t after) const { return -x_.product(t_ + i * pitch_, after, end_); }
  Number with_value(T element) const {
    if constexpr (is_complex_number<Number> && !is_complex_number<T>)
      return Number{element - value_.re, -value_.im};
    else
      return element - value_;
  }
  // Scales the elements from `after` on, and the right sides, if a quotient by `divisor` could overflow.
  template <class... Numbers>
  void prepare(R divisor, int64_t after, Numbers&... right) {
    R most = 0;
    for (const R each : {size(right)...}) most = each > most ? each : most;
    if (divisor >= 1 || most <= large * divisor) return;
    const int exponent = -exponent_of(most);
    x_.scale_by(exponent, after, end_);
    const PowerOfTwo<R> factor(exponent);
    ((right = factor.times(right)), ...);
  }
  void keep_small(R most, int64_t from) {
    if (most > large) x_.scale_by(-exponent_of(most), from, end_);
  }

  void solve_one(int64_t i) {
    Number divisor = with_value(t_[i * pitch_ + i]), right = right_side(i, i + 1);
    if (size(divisor) < least_) divisor = number<Number>(least_);
    prepare(size(divisor), i + 1, right);
    const Number x = right * inverse(divisor);
    x_.set(i, x);
    keep_small(size(x), i);
  }

  // Rows i and i + 1, by elimination with complete pivoting.
  void solve_pair(int64_t i) {
    const T* const row = t_ + i * pitch_ + i;
    Number a[2][2] = {{with_value(row[0]), number<Number>(real(row[1]))},
                      {number<Number>(real(row[pitch_])), with_value(row[pitch_ + 1])}};
    int p = 0, q = 0;
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c)
        if (size(a[r][c]) > size(a[p][q])) {
          p = r;
          q = c;
        }
    Number pivot = a[p][q];
    if (size(pivot) < least_) pivot = number<Number>(least_);
    const Number by = a[1 - p][q] * inverse(pivot), beside = a[p][1 - q];
    Number last = a[1 - p][1 - q] - by * beside;
    if (size(last) < least_) last = number<Number>(least_);
    Number first_right = right_side(i + p, i + 2), second_right = right_side(i + 1 - p, i + 2);
    prepare(size(last), i + 2, first_right, second_right);
    const Number second = (second_right - by * first_right) * inverse(last);
    const Number first = first_right * inverse(pivot) - (beside * inverse(pivot)) * second;
    x_.set(i + q, first);
    x_.set(i + 1 - q, second);
    keep_small(size(first) > size(second) ? size(first) : size(second), i);
  }

  const T* const t_;
  const int64_t pitch_;
  const Number value_;
  const Vector x_;
  const int64_t end_;
  R least_;
};

// Row j of `x` becomes the eigenvector of the element at (j, j) of the triangular `t`.
template <class R>
void triangular_eigenvector(const Cx<R>* t, int64_t pitch, int64_t n, int64_t j, Cx<R>* x) {
  Cx<R>* const row = x + j * pitch;
  for (int64_t i = j + 1; i < n; ++i) row[i] = {};
  row[j] = {R(1), R(0)};
  BackSubstitution<Cx<R>, WholeVector<Cx<R>>>(t, pitch, n, t[j * pitch + j], {row}, j + 1).run(j);
}
// For a 2 x 2 block at j, rows j and j + 1 become the real and the imaginary part of the eigenvector whose eigenvalue
// has a positive imaginary part.
template <class R>
void triangular_eigenvector(const R* t, int64_t pitch, int64_t n, int64_t j, R* x) {
  const R* const diagonal = t + j * pitch + j;
  R* const row = x + j * pitch;
  if (j > 0 && diagonal[-1] != 0) return;  // the second of a pair
  const bool is_pair = j + 1 < n && diagonal[pitch] != 0;
  for (int64_t i = j; i < n; ++i) row[i] = 0;
  if (!is_pair) {
    row[j] = 1;
    BackSubstitution<R, WholeVector<R>>(t, pitch, n, diagonal[0], {row}, j + 1).run(j);
    return;
  }
  R* const imaginary_row = row + pitch;
  for (int64_t i = j; i < n; ++i) imaginary_row[i] = 0;
  const R above = diagonal[1], below = diagonal[pitch];
  const R part = geometric_mean(above, below);
  if (absolute(above) >= absolute(below)) {
    row[j] = 1;
    imaginary_row[j + 1] = part / above;
  } else {
    row[j] = -part / below;
    imaginary_row[j + 1] = 1;
  }
  // (a, b; c, a) (x, i y) = (a + i part) (x, i y) means b y = part x.
  BackSubstitution<R, SplitVector<R>>(t, pitch, n, {diagonal[0], part}, {row, imaginary_row}, j + 2).run(j);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
