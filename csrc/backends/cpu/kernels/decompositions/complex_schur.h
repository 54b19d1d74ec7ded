// The Schur form of complex Hessenberg matrices by the QR algorithm with Wilkinson's shifts, and the deflation of Ahues
// & Tisseur (LAPACK working note 122).
#pragma once

#include "small_reflections.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class R>
Cx<R> root(Cx<R> x) {
  const R half = R(0.5) * (absolute(x) + absolute(x.re));
  if (half == 0) return {};
  const R larger_part = root(half), other = R(0.5) * x.im / larger_part;
  return x.re >= 0 ? Cx<R>{larger_part, other} : Cx<R>{absolute(other), with_sign(larger_part, x.im)};
}

// Rows [begin, end) of a row-major n x n matrix `h`, whose largest element is near 1, are reduced; the others are upper
// triangular. Rows of `z` are columns of the matrix that is multiplied by Q; null if only the diagonal is needed.
template <class R>
class ComplexSchur {
 public:
  using T = Cx<R>;

  ComplexSchur(Team& team, T* h, int64_t pitch, int64_t n, T* z, SmallReflection<T>* steps)
      : team_(team), h_(h), pitch_(pitch), n_(n), z_(z), steps_(steps) {}

  // Returns false if it does not converge, or the team is stopped.
  bool run(int64_t begin, int64_t end) {
    const int64_t limit = 30 * larger(end - begin, 10);
    int64_t last = end - 1, iterations = 0, since_deflation = 0, work = 0;
    while (last >= begin) {
      const int64_t first = start_of_block(begin, last, end);
      if (first > begin) at(first, first - 1) = {};
      if (first == last) {
        --last;
        since_deflation = 0;
        continue;
      }
      if (++iterations > limit) return false;
      // Asked about every millisecond.
      work += (last - first) * (last - first + (z_ == nullptr ? 0 : 2 * n_));
      if (work > 250000) {
        if (team_.is_stopped()) return false;
        work = 0;
      }
      sweep(first, last, since_deflation++);
    }
    return team_.error == nullptr;
  }

 private:
  T& at(int64_t i, int64_t j) { return h_[i * pitch_ + j]; }
  R size_at(int64_t i, int64_t j) { return size_of_number(at(i, j)); }

  int64_t start_of_block(int64_t begin, int64_t last, int64_t end) {
    return start_of_undivided_block<R>(h_, pitch_, begin, last, end, [](T x) { return size_of_number(x); });
  }

  // The eigenvalue of the last 2 x 2 block that is nearer to its last element.
  T shift(int64_t first, int64_t last, int64_t count) {
    if (count % 20 == 10) return at(first, first) + number<T>(R(0.75) * size_at(first + 1, first));
    if (count % 20 == 0 && count > 0) return at(last, last) + number<T>(R(0.75) * size_at(last, last - 1));
    const T d = at(last, last), u = root(at(last - 1, last)) * root(at(last, last - 1));
    R size = size_of_number(u);
    if (size == 0) return d;
    const T half = R(0.5) * (at(last - 1, last - 1) - d);
    size = size_of_number(half) > size ? size_of_number(half) : size;
    const T p = (1 / size) * half, q = (1 / size) * u;
    T y = root(p * p + q * q);
    if (p.re * y.re + p.im * y.im < 0) y = -y;
    const T sum = p + y;
    return is_zero(sum) ? d : d - u * (q * inverse(sum));
  }

  // Chases a bulge from where a subdiagonal element is small enough to the end of the block.
  void sweep(int64_t first, int64_t last, int64_t count) {
    const T s = shift(first, last, count);
    T x{}, y{};
    int64_t start = last - 1;
    for (;; --start) {  // the first column of H - s
      const T a = at(start, start), d = at(start + 1, start + 1);
      const R size = size_of_number(a - s) + size_at(start + 1, start);
      x = (1 / size) * (a - s);
      y = (1 / size) * at(start + 1, start);
      if (start == first) break;
      if (size_at(start, start - 1) * size_of_number(y) <=
          epsilon_of<R> * size_of_number(x) * (size_of_number(a) + size_of_number(d)))
        break;
    }
    for (int64_t k = start; k < last; ++k) {
      if (k > start) {
        x = at(k, k - 1);
        y = at(k + 1, k - 1);
      }
      R beta;
      const SmallReflection<T> step = small_reflection(x, y, beta);
      steps_[k] = step;
      if (k > start) {
        at(k, k - 1) = number<T>(beta);
        at(k + 1, k - 1) = {};
      } else if (start > first) {
        at(k, k - 1) = at(k, k - 1) - conj(step.t) * at(k, k - 1);
      }
      adjoint_of_rows(h_ + k, last + 1 - k, k);
      reflect_columns(first, smaller(k + 2, last) + 1, pitch_, step, h_ + k);
    }
    if (z_ != nullptr) update_outside(first, start, last);
  }
  void adjoint_of_rows(T* matrix, int64_t n, int64_t k) {
    const SmallReflection<T>& h = steps_[k];
    reflect_pairs(n, conj(h.t), conj(h.v1), h.v1, matrix + k * pitch_, matrix + (k + 1) * pitch_);
  }

  // The reflections of a sweep on the columns right of the block, the rows above it, and Q.
  void update_outside(int64_t first, int64_t start, int64_t last) {
    const int64_t grain = larger(32, 16384 / (last - start));
    team_.run(n_ - last - 1, grain, [&](int64_t from, int64_t to) {
      for (int64_t k = start; k < last; ++k) adjoint_of_rows(h_ + last + 1 + from, to - from, k);
    });
    team_.run(first, larger(16, 8192 / (last - start)), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i += 16)
        for (int64_t k = start; k < last; ++k) reflect_columns(i, smaller(i + 16, to), pitch_, steps_[k], h_ + k);
    });
    team_.run(n_, grain, [&](int64_t from, int64_t to) {
      for (int64_t k = start; k < last; ++k) {
        const SmallReflection<T>& h = steps_[k];
        T* const x = z_ + k * pitch_ + from;
        reflect_pairs(to - from, h.t, h.v1, conj(h.v1), x, x + pitch_);
      }
    });
  }

  Team& team_;
  T* const h_;
  const int64_t pitch_, n_;
  T* const z_;
  SmallReflection<T>* const steps_;
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
