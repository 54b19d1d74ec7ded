// The real Schur form of Hessenberg matrices by the QR algorithm with double shifts (Francis 1961), with the deflation
// of Ahues & Tisseur (LAPACK working note 122) and 2 x 2 blocks in the standard form of Bai & Demmel (1993).
#pragma once

#include "small_reflections.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The rotation that brings (a, b; c, d) to the standard form: c = 0, or a = d and b c < 0.
template <class R>
struct StandardBlock {
  R a, b, c, d, cosine = 1, sine = 0;

  StandardBlock(R first, R second, R third, R fourth) : a(first), b(second), c(third), d(fourth) {
    if (b == 0 && c != 0) exchange();
    if (c == 0 || (a == d && (b < 0) != (c < 0))) return;
    const R apart = a - d, half = R(0.5) * apart;
    const R most = larger_of(absolute(b), absolute(c));
    const R least =
        with_sign(absolute(b) < absolute(c) ? absolute(b) : absolute(c), R(1)) * ((b < 0) == (c < 0) ? R(1) : R(-1));
    const R size = larger_of(absolute(half), most);
    const R discriminant = half / size * half + most / size * least;
    if (discriminant >= 4 * epsilon_of<R>)
      split(half, half + with_sign(root(size) * root(discriminant), half), most, least);
    else
      equalize(apart);
  }

 private:
  static R larger_of(R x, R y) { return x > y ? x : y; }

  void exchange() {
    const R other = a;
    a = d;
    d = other;
    b = -c;
    c = 0;
    cosine = 0;
    sine = 1;
  }
  // Two real eigenvalues that are well apart.
  void split(R, R distance, R most, R least) {
    const R length = hypotenuse(c, distance);
    a = d + distance;
    d -= most / distance * least;
    cosine = distance / length;
    sine = c / length;
    b -= c;
    c = 0;
  }
  // Complex eigenvalues, or real ones that are nearly equal: makes the diagonal equal.
  void equalize(R apart) {
    const R sum = b + c, length = hypotenuse(sum, apart);
    cosine = root(R(0.5) * (1 + absolute(sum) / length));
    sine = -(R(0.5) * apart / (length * cosine)) * with_sign(R(1), sum);
    const R aa = a * cosine + b * sine, bb = b * cosine - a * sine;
    const R cc = c * cosine + d * sine, dd = d * cosine - c * sine;
    b = bb * cosine + dd * sine;
    c = cc * cosine - aa * sine;
    const R middle = R(0.5) * ((aa * cosine + cc * sine) + (dd * cosine - bb * sine));
    a = d = middle;
    if (c == 0 || (b != 0 && (b < 0) != (c < 0))) return;
    if (b == 0) {
      b = -c;
      c = 0;
      const R other = cosine;
      cosine = -sine;
      sine = other;
      return;
    }
    const R root_b = root(absolute(b)), root_c = root(absolute(c));
    const R distance = with_sign(root_b * root_c, c), scale = 1 / root(absolute(b + c));
    a = middle + distance;
    d = middle - distance;
    b -= c;
    c = 0;
    const R second_cosine = root_b * scale, second_sine = root_c * scale, first = cosine;
    cosine = first * second_cosine - sine * second_sine;
    sine = first * second_sine + sine * second_cosine;
  }
};

// Rows [begin, end) of a row-major n x n matrix `h`, whose largest element is near 1, are reduced; the others are upper
// triangular. Rows of `z` are columns of the matrix that is multiplied by Q; null if only the diagonal blocks are
// needed.
template <class R>
class RealSchur {
 public:
  RealSchur(Team& team, R* h, int64_t pitch, int64_t n, R* z, SmallReflection<R>* steps)
      : team_(team), h_(h), pitch_(pitch), n_(n), z_(z), steps_(steps) {}

  // Returns false if it does not converge, or the team is stopped.
  bool run(int64_t begin, int64_t end) {
    const int64_t limit = 30 * larger(end - begin, 10);
    int64_t last = end - 1, iterations = 0, since_deflation = 0, work = 0;
    while (last >= begin) {
      const int64_t first = start_of_block(begin, last, end);
      if (first > begin) at(first, first - 1) = 0;
      if (first >= last - 1) {
        if (first == last - 1) standardize(first);
        last = first - 1;
        since_deflation = 0;
        continue;
      }
      if (++iterations > limit) return false;
      // Asked about every millisecond.
      work += (last - first) * (last - first + (z_ == nullptr ? 0 : 2 * n_));
      if (work > 500000) {
        if (team_.is_stopped()) return false;
        work = 0;
      }
      sweep(first, last, since_deflation++);
    }
    return team_.error == nullptr;
  }

 private:
  struct Shifts {
    R re1, im1, re2, im2;
  };

  R& at(int64_t i, int64_t j) { return h_[i * pitch_ + j]; }
  R size_at(int64_t i, int64_t j) { return absolute(at(i, j)); }

  int64_t start_of_block(int64_t begin, int64_t last, int64_t end) {
    return start_of_undivided_block<R>(h_, pitch_, begin, last, end, [](R x) { return absolute(x); });
  }

  void standardize(int64_t i) {
    const StandardBlock<R> block(at(i, i), at(i, i + 1), at(i + 1, i), at(i + 1, i + 1));
    at(i, i) = block.a;
    at(i, i + 1) = block.b;
    at(i + 1, i) = block.c;
    at(i + 1, i + 1) = block.d;
    if (z_ == nullptr) return;
    rotate(n_ - i - 2, &at(i, i) + 2, &at(i + 1, i) + 2, block.cosine, block.sine);
    rotate_columns(int64_t{0}, i, pitch_, block.cosine, block.sine, h_ + i);
    rotate(n_, z_ + i * pitch_, z_ + (i + 1) * pitch_, block.cosine, block.sine);
  }

  // The eigenvalues of the last 2 x 2 block; twice the nearer one if they are real.
  Shifts shifts(int64_t first, int64_t last, int64_t count) {
    R a = at(last - 1, last - 1), b = at(last - 1, last), c = at(last, last - 1), d = at(last, last);
    if (count % 20 == 10 || (count % 20 == 0 && count > 0)) {  // exceptional ones
      const bool at_start = count % 20 == 10;
      const R size = at_start ? size_at(first + 1, first) + size_at(first + 2, first + 1)
                              : size_at(last, last - 1) + size_at(last - 1, last - 2);
      a = d = R(0.75) * size + (at_start ? at(first, first) : at(last, last));
      b = R(-0.4375) * size;
      c = size;
    }
    const R size = absolute(a) + absolute(b) + absolute(c) + absolute(d);
    if (size == 0) return {0, 0, 0, 0};
    a /= size;
    b /= size;
    c /= size;
    d /= size;
    const R middle = R(0.5) * (a + d), determinant = (a - middle) * (d - middle) - b * c;
    const R distance = root(absolute(determinant));
    if (determinant >= 0) return {middle * size, distance * size, middle * size, -distance * size};
    const R above = middle + distance, below = middle - distance;
    const R nearer = (absolute(above - d) <= absolute(below - d) ? above : below) * size;
    return {nearer, 0, nearer, 0};
  }

  // Chases a bulge from where two subdiagonal elements are small to the end of the block.
  void sweep(int64_t first, int64_t last, int64_t count) {
    const Shifts s = shifts(first, last, count);
    R x[3] = {};
    int64_t start = last - 2;
    for (;; --start) {  // the first column of (H - s1) (H - s2)
      const R a = at(start, start), d = at(start + 1, start + 1), below = at(start + 1, start);
      const R size = absolute(a - s.re2) + absolute(s.im2) + absolute(below), c = below / size;
      x[0] = c * at(start, start + 1) + (a - s.re1) * ((a - s.re2) / size) - s.im1 * (s.im2 / size);
      x[1] = c * (a + d - s.re1 - s.re2);
      x[2] = c * at(start + 2, start + 1);
      const R sum = absolute(x[0]) + absolute(x[1]) + absolute(x[2]);
      if (sum > 0)
        for (R& each : x) each /= sum;
      if (start == first) break;
      if (size_at(start, start - 1) * (absolute(x[1]) + absolute(x[2])) <=
          epsilon_of<R> * absolute(x[0]) * (size_at(start - 1, start - 1) + absolute(a) + absolute(d)))
        break;
    }
    for (int64_t k = start; k < last; ++k) {
      const bool is_wide = k + 2 <= last;
      if (k > start) {
        x[0] = at(k, k - 1);
        x[1] = at(k + 1, k - 1);
        x[2] = is_wide ? at(k + 2, k - 1) : 0;
      }
      R beta;
      const SmallReflection<R> step = small_reflection(x[0], x[1], x[2], beta);
      steps_[k] = step;
      if (k > start) {
        at(k, k - 1) = beta;
        at(k + 1, k - 1) = 0;
        if (is_wide) at(k + 2, k - 1) = 0;
      } else if (start > first) {
        at(k, k - 1) *= 1 - step.t;
      }
      reflect_rows_from(h_ + k, last + 1 - k, k, is_wide);
      reflect_columns(first, smaller(k + 3, last) + 1, pitch_, step, is_wide ? 3 : 2, h_ + k);
    }
    if (z_ != nullptr) update_outside(first, start, last);
  }
  void reflect_rows_from(R* matrix, int64_t n, int64_t k, bool is_wide) {
    R* const x = matrix + k * pitch_;
    if (is_wide)
      reflect_rows(n, steps_[k], x, x + pitch_, x + 2 * pitch_);
    else
      reflect_rows(n, steps_[k], x, x + pitch_);
  }

  // The reflections of a sweep on the columns right of the block, the rows above it, and Q.
  void update_outside(int64_t first, int64_t start, int64_t last) {
    const int64_t grain = larger(64, 32768 / (last - start));
    team_.run(n_ - last - 1, grain, [&](int64_t from, int64_t to) {
      for (int64_t k = start; k < last; ++k) reflect_rows_from(h_ + last + 1 + from, to - from, k, k + 2 <= last);
    });
    team_.run(first, larger(16, 16384 / (last - start)), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i += 16)
        for (int64_t k = start; k < last; ++k)
          reflect_columns(i, smaller(i + 16, to), pitch_, steps_[k], k + 2 <= last ? 3 : 2, h_ + k);
    });
    team_.run(n_, grain, [&](int64_t from, int64_t to) {
      for (int64_t k = start; k < last; ++k) reflect_rows_from(z_ + from, to - from, k, k + 2 <= last);
    });
  }

  Team& team_;
  R* const h_;
  const int64_t pitch_, n_;
  R* const z_;
  SmallReflection<R>* const steps_;
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
