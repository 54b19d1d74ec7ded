// Eigenvalues and eigenvectors of real symmetric tridiagonal matrices: implicit QL for small ones, and divide and
// conquer above (Cuppen 1981; Gu & Eisenstat 1995).
#pragma once

#include "matrices.h"
#include "secular_equation.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Scales a tridiagonal matrix by a power of two, so that its largest element is between 1/2 and 1, and back.
class UnitScale {
 public:
  UnitScale(int64_t n, double* d, double* e) : n_(n), d_(d) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i) {
      most = absolute(d[i]) > most ? absolute(d[i]) : most;
      if (i < n - 1) most = absolute(e[i]) > most ? absolute(e[i]) : most;
    }
    if (most > 0) frexp(most, &exponent_);
    for (int64_t i = 0; i < n; ++i) {
      d[i] = ldexp(d[i], -exponent_);
      if (i < n - 1) e[i] = ldexp(e[i], -exponent_);
    }
  }
  void restore() const {
    for (int64_t i = 0; i < n_; ++i) d_[i] = ldexp(d_[i], exponent_);
  }

 private:
  int64_t n_;
  double* d_;
  int exponent_ = 0;
};

// Implicit QL on a matrix whose elements are at most 1. d: the diagonal, which becomes the eigenvalues in no order.
// e[i] couples i and i + 1. Rows of `vectors`, `length` long, are rotated along, if it is not null. Returns false if it
// does not converge.
template <class R>
bool iterate_ql(int64_t n, double* d, double* e, R* vectors, int64_t pitch, int64_t length) {
  // A coupling that is far below the rounding errors of the matrix is none, even beside a diagonal of such noise.
  constexpr double least = 1e-40;
  int64_t iterations = 0;
  for (int64_t l = 0; l < n; ++l)
    for (;; ++iterations) {
      int64_t m = l;
      for (; m < n - 1; ++m) {
        const double sum = absolute(d[m]) + absolute(d[m + 1]);
        if (absolute(e[m]) <= epsilon_of<double> * sum || absolute(e[m]) <= least) break;
      }
      if (m == l) break;
      if (iterations >= 60 * n) return false;
      double g = (d[l + 1] - d[l]) / (2 * e[l]);
      double r = hypotenuse(g, 1.0);  // g may be large
      g = d[m] - d[l] + e[l] / (g + with_sign(r, g));
      double s = 1, c = 1, p = 0;
      int64_t i = m - 1;
      for (; i >= l; --i) {
        const double f = s * e[i], b = c * e[i];
        r = root(f * f + g * g);  // elements are at most 1: squares that underflow are negligible
        e[i + 1] = r;
        if (r == 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        const double inverse_r = 1 / r;
        s = f * inverse_r;
        c = g * inverse_r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        if (vectors != nullptr)
          rotate(length, vectors + (i + 1) * pitch, vectors + i * pitch, static_cast<R>(c), static_cast<R>(s));
      }
      if (r == 0 && i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  return true;
}

// Divide and conquer. `vectors` becomes the eigenvectors as rows; `d` the eigenvalues, ascending in the order of
// `order`.
template <class R>
class DivideAndConquer {
 public:
  static constexpr int64_t leaf = 32;

  struct Arrays {
    R *vectors, *gathered, *mixed, *packed;
    double *delta, *poles, *weights, *roots, *refined, *z;
    int64_t *order, *kept, *sorted, *kinds;
    int64_t pitch;
    Arrays(ScratchArena& scratch, int64_t n) : pitch(pitch_of<R>(n)) {
      const int64_t inner = n > leaf ? n : 0;
      vectors = scratch.array<R>(n * pitch);
      gathered = scratch.array<R>(inner * pitch);
      mixed = scratch.array<R>(inner * inner);
      packed = scratch.array<R>(inner > 0 ? packed_size<R>(n, n, n) : 0);
      delta = scratch.array<double>(inner * inner);
      poles = scratch.array<double>(n);
      weights = scratch.array<double>(n);
      roots = scratch.array<double>(n);
      refined = scratch.array<double>(n);
      z = scratch.array<double>(n);
      order = scratch.array<int64_t>(n);
      kept = scratch.array<int64_t>(n);
      sorted = scratch.array<int64_t>(n);
      kinds = scratch.array<int64_t>(n);
    }
  };

  DivideAndConquer(Team& team, const Arrays& arrays, double* d, double* e)
      : team_(team), arrays_(arrays), d_(d), e_(e) {}

  bool run(int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      memset(static_cast<void*>(arrays_.vectors + i * arrays_.pitch), 0, static_cast<size_t>(n) * sizeof(R));
      arrays_.vectors[i * arrays_.pitch + i] = 1;
    }
    const UnitScale scale(n, d_, e_);  // merges compare eigenvalues with elements of unit vectors
    const bool converges = solve(0, n);
    scale.restore();
    return converges;
  }

 private:
  bool solve(int64_t first, int64_t n) {
    if (team_.is_stopped()) return false;
    if (n <= leaf) {
      if (!iterate_ql(n, d_ + first, e_ + first, arrays_.vectors + first * arrays_.pitch + first, arrays_.pitch, n))
        return false;
      sort(first, n);
      return true;
    }
    const int64_t half = n / 2;
    const double coupling = e_[first + half - 1];
    d_[first + half - 1] -= absolute(coupling);
    d_[first + half] -= absolute(coupling);
    if (!solve(first, half) || !solve(first + half, n - half)) return false;
    if (coupling != 0) {
      merge(first, half, n, coupling);
    } else {
      for (int64_t i = 0; i < n - half; ++i) arrays_.order[first + half + i] += half;
      merge_order(first, half, n);
    }
    return true;
  }

  // order[first + i] is the place, relative to first, of the i-th least eigenvalue.
  void sort(int64_t first, int64_t n) {
    int64_t* const order = arrays_.order + first;
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = i;
      for (; at > 0 && d_[first + order[at - 1]] > d_[first + i]; --at) order[at] = order[at - 1];
      order[at] = i;
    }
  }
  // Merges the orders of two parts, whose places are already relative to `first`.
  void merge_order(int64_t first, int64_t half, int64_t n) {
    int64_t *const order = arrays_.order + first, *const to = arrays_.sorted;
    int64_t a = 0, b = half;
    for (int64_t i = 0; i < n; ++i) {
      const bool left = b == n || (a < half && d_[first + order[a]] <= d_[first + order[b]]);
      to[i] = left ? order[a++] : order[b++];
    }
    for (int64_t i = 0; i < n; ++i) order[i] = to[i];
  }

  R* row(int64_t first, int64_t i) const { return arrays_.vectors + (first + i) * arrays_.pitch + first; }

  void merge(int64_t first, int64_t half, int64_t n, double coupling) {
    double* const d = d_ + first;
    double* const z = arrays_.z;
    int64_t* const order = arrays_.order + first;
    // z = Q^T (e_half-1 +- e_half) / sqrt(2), whose norm is 1.
    const double unit = 0.70710678118654752440;
    for (int64_t i = 0; i < half; ++i) z[i] = unit * static_cast<double>(row(first, i)[half - 1]);
    for (int64_t i = half; i < n; ++i) z[i] = with_sign(unit, coupling) * static_cast<double>(row(first, i)[half]);
    const double rho = 2 * absolute(coupling);
    for (int64_t i = 0; i < n - half; ++i) order[half + i] += half;
    merge_order(first, half, n);

    double largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      largest = absolute(d[i]) > largest ? absolute(d[i]) : largest;
      largest = absolute(z[i]) > largest ? absolute(z[i]) : largest;
    }
    const double tolerance = 8 * static_cast<double>(epsilon_of<R>) * largest;
    // 1: only elements of the first half, 2: of both, 3: of the second, 0: deflated, an eigenvector already.
    int64_t* const kinds = arrays_.kinds;
    for (int64_t i = 0; i < n; ++i) kinds[i] = i < half ? 1 : 3;
    int64_t count = 0, before = -1;
    int64_t* const kept = arrays_.kept;
    for (int64_t index = 0; index < n; ++index) {
      const int64_t i = order[index];
      if (rho * absolute(z[i]) <= tolerance) {
        kinds[i] = 0;
        continue;
      }
      if (before >= 0) {
        const double length = hypotenuse(z[before], z[i]), gap = d[i] - d[before];
        const double c = z[i] / length, s = -z[before] / length;
        if (absolute(gap * c * s) <= tolerance) {
          z[i] = length;
          z[before] = 0;
          rotate(n, row(first, before), row(first, i), static_cast<R>(c), static_cast<R>(s));
          const double moved = d[before] * c * c + d[i] * s * s;
          d[i] = d[before] * s * s + d[i] * c * c;
          d[before] = moved;
          if (kinds[i] != kinds[before]) kinds[i] = 2;
          kinds[before] = 0;
          --count;  // the one before is no longer kept
        }
      }
      kept[count++] = i;
      before = i;
    }
    if (count > 0) update(first, half, n, rho, count);
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    sort_all(first, n);
  }

  // Replaces the `count` kept eigenpairs.
  void update(int64_t first, int64_t half, int64_t n, double rho, int64_t count) {
    double* const d = d_ + first;
    int64_t* const kept = arrays_.kept;
    double *const poles = arrays_.poles, *const weights = arrays_.weights, *const refined = arrays_.refined;
    for (int64_t i = 0; i < count; ++i) {
      poles[i] = d[kept[i]];
      weights[i] = arrays_.z[kept[i]];
    }
    team_.run(count, larger(1, 4000 / count), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        arrays_.roots[j] = find_secular_root(count, j, poles, weights, rho, arrays_.delta + j * count);
    });
    // The weights for which the computed roots are exact give orthogonal eigenvectors (Gu & Eisenstat 1994).
    team_.run(count, larger(1, 16000 / count), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) refined[i] = arrays_.delta[i * count + i];
      for (int64_t j = 0; j < count; ++j) {
        const double* const delta = arrays_.delta + j * count;
        for (int64_t i = begin; i < end; ++i)
          if (i != j) refined[i] *= delta[i] / (poles[i] - poles[j]);
      }
      for (int64_t i = begin; i < end; ++i) refined[i] = with_sign(root(absolute(refined[i])), weights[i]);
    });
    // Rows are gathered by kind, so that products skip the halves that are zero.
    int64_t counts[4] = {};
    for (int64_t i = 0; i < count; ++i) ++counts[arrays_.kinds[kept[i]]];
    int64_t at[4] = {0, 0, counts[1], counts[1] + counts[2]};
    int64_t* const place = arrays_.sorted;
    for (int64_t i = 0; i < count; ++i) place[i] = at[arrays_.kinds[kept[i]]]++;
    team_.run(count, larger(1, 16000 / n), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        __builtin_memcpy(static_cast<void*>(arrays_.gathered + place[j] * arrays_.pitch), row(first, kept[j]),
                         static_cast<size_t>(n) * sizeof(R));
        double* const delta = arrays_.delta + j * count;
        double squares = 0;
        for (int64_t i = 0; i < count; ++i) {
          delta[i] = refined[i] / delta[i];
          squares += delta[i] * delta[i];
        }
        const double factor = 1 / root(squares);
        for (int64_t i = 0; i < count; ++i) arrays_.mixed[j * count + place[i]] = static_cast<R>(factor * delta[i]);
      }
    });
    const int64_t upper = counts[1] + counts[2], lower = counts[2] + counts[3];
    R* const products = reinterpret_cast<R*>(arrays_.delta);  // no longer needed; it has n * n elements of the root
    multiply<R>(team_, count, half, upper, {arrays_.mixed, count, 1}, {arrays_.gathered, arrays_.pitch, 1}, products,
                half, Store::replace, arrays_.packed);
    scatter(first, 0, half, count, products);
    multiply<R>(team_, count, n - half, lower, {arrays_.mixed + counts[1], count, 1},
                {arrays_.gathered + counts[1] * arrays_.pitch + half, arrays_.pitch, 1}, products, n - half,
                Store::replace, arrays_.packed);
    scatter(first, half, n - half, count, products);
    for (int64_t j = 0; j < count; ++j) d[kept[j]] = arrays_.roots[j];
  }
  void scatter(int64_t first, int64_t column, int64_t width, int64_t count, const R* products) {
    for (int64_t j = 0; j < count; ++j)
      __builtin_memcpy(static_cast<void*>(row(first, arrays_.kept[j]) + column), products + j * width,
                       static_cast<size_t>(width) * sizeof(R));
  }

  // Sorts the places 0 to n by eigenvalue: a merge sort.
  void sort_all(int64_t first, int64_t n) {
    int64_t *from = arrays_.order + first, *to = arrays_.sorted;
    for (int64_t width = 1; width < n; width *= 2) {
      for (int64_t begin = 0; begin < n; begin += 2 * width) {
        const int64_t middle = smaller(begin + width, n), end = smaller(begin + 2 * width, n);
        int64_t a = begin, b = middle;
        for (int64_t i = begin; i < end; ++i)
          to[i] = b == end || (a < middle && d_[first + from[a]] <= d_[first + from[b]]) ? from[a++] : from[b++];
      }
      int64_t* const other = from;
      from = to;
      to = other;
    }
    if (from != arrays_.order + first)
      for (int64_t i = 0; i < n; ++i) arrays_.order[first + i] = from[i];
  }

  Team& team_;
  const Arrays& arrays_;
  double* const d_;
  double* const e_;
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
