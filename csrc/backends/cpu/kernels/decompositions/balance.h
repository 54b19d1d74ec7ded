// Balancing of general matrices (Parlett & Reinsch 1969; with Euclidean norms, James, Langou & Lowery 2014): a
// permutation that isolates eigenvalues, then a diagonal similarity by powers of two.
#pragma once

#include "matrices.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The exponent e with x = m 2^e, 1/2 <= m < 1; 0 for 0.
inline int exponent_of(float x) {
  int exponent = 0;
  frexpf(x, &exponent);
  return exponent;
}
inline int exponent_of(double x) {
  int exponent = 0;
  frexp(x, &exponent);
  return exponent;
}
inline float times_power_of_two(float x, int exponent) { return ldexpf(x, exponent); }
inline double times_power_of_two(double x, int exponent) { return ldexp(x, exponent); }

// A power of two as two factors: it may be out of the range of R.
template <class R>
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int exponent)
      : first_(times_power_of_two(R(1), exponent / 2)),
        second_(times_power_of_two(R(1), exponent - exponent / 2)),
        is_one_(exponent == 0) {}
  template <class T>
  T times(T x) const {
    return second_ * (first_ * x);
  }
  template <class T>
  void scale(int64_t n, T* x) const {
    if (is_one_) return;
    for (int64_t i = 0; i < n; ++i) x[i] = times(x[i]);
  }

 private:
  R first_, second_;
  bool is_one_;
};

template <class T>
RealOf<T> largest_part_of_matrix(const T* a, int64_t pitch, int64_t n) {
  RealOf<T> largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const RealOf<T> most = largest_part(n, a + i * pitch);
    largest = most > largest ? most : largest;
  }
  return largest;
}

// The balanced matrix is 2^exponent D^-1 P^T A P D. Row i of P^T A P is row place[i] of A, and D = diag(2^powers[i]).
// Its rows and columns outside of [begin, end) are upper triangular.
template <class T>
struct Balanced {
  using R = RealOf<T>;
  T* a;
  int64_t pitch, n;
  int64_t *place, *powers;
  T* column;  // n elements
  int64_t begin = 0, end = 0;
  int exponent = 0;
  bool is_scaled = false;

  // Returns false if the team is stopped.
  bool run(Team& team) {
    for (int64_t i = 0; i < n; ++i) {
      place[i] = i;
      powers[i] = 0;
    }
    begin = 0;
    end = n;
    // Small matrices are enlarged first, which is exact. Large ones are not reduced further than sums of squares of
    // their columns need: that would round tiny elements that balancing may enlarge.
    constexpr int high = sizeof(R) == 4 ? 110 : 1000;
    const int size = exponent_of(largest_part_of_matrix(a, pitch, n));
    rescale(size < 0 ? -size : size > high ? high - size : 0);
    isolate();
    if (!equalize(team)) return false;
    rescale(-exponent_of(largest_part_of_matrix(a, pitch, n)));
    return true;
  }

 private:
  void rescale(int by) {
    const PowerOfTwo<R> factor(by);
    for (int64_t i = 0; i < n; ++i) factor.scale(n, a + i * pitch);
    exponent += by;
  }

  // Exchanges two rows and the columns of the same numbers.
  void exchange(int64_t i, int64_t j) {
    if (i == j) return;
    const auto swap = [](auto& x, auto& y) {
      const auto other = x;
      x = y;
      y = other;
    };
    swap(place[i], place[j]);
    for (int64_t k = 0; k < n; ++k) swap(a[i * pitch + k], a[j * pitch + k]);
    for (int64_t k = 0; k < n; ++k) swap(a[k * pitch + i], a[k * pitch + j]);
  }
  bool is_alone(int64_t i, bool in_row) const {
    for (int64_t k = begin; k < end; ++k)
      if (k != i && !is_zero(in_row ? a[i * pitch + k] : a[k * pitch + i])) return false;
    return true;
  }
  // Moves rows without other elements to the end, then columns without other elements to the beginning.
  void isolate() {
    for (int64_t i = end; i-- > begin;)
      if (is_alone(i, true)) {
        exchange(i, --end);
        i = end;
      }
    for (int64_t i = begin; i < end; ++i)
      if (is_alone(i, false)) {
        exchange(i, begin++);
        i = begin - 1;
      }
  }

  // How far the elements may grow before they could overflow.
  int room(R most) const {
    constexpr int high = sizeof(R) == 4 ? 110 : 1000;
    const int exponents = high - exponent_of(most);
    return exponents < 0 ? 0 : exponents > high ? high : exponents;
  }

  // Scales until no row and column of the same number differ much in norm.
  bool equalize(Team& team) {
    const int64_t count = end - begin;
    bool changed = count > 1;
    for (int round = 0; changed && round < 100; ++round) {
      changed = false;
      if (team.is_stopped()) return false;
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t k = 0; k < end; ++k) column[k] = a[k * pitch + i];
        const R down = norm(count, column + begin), across = norm(count, a + i * pitch + begin);
        if (down == 0 || across == 0) continue;
        const int apart = (exponent_of(across) - exponent_of(down)) / 2;
        const int most = room(apart > 0 ? largest_part(end, column) : largest_part(n, a + i * pitch));
        const int power = apart > most ? most : apart < -most ? -most : apart;
        const R factor = times_power_of_two(R(1), power), inverse = times_power_of_two(R(1), -power);
        if (power == 0 || down * factor + across * inverse >= R(0.95) * (down + across)) continue;
        for (int64_t k = 0; k < n; ++k) a[i * pitch + k] = inverse * a[i * pitch + k];
        for (int64_t k = 0; k < n; ++k) a[k * pitch + i] = factor * a[k * pitch + i];
        powers[i] += power;
        changed = is_scaled = true;
      }
    }
    return true;
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
