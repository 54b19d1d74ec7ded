// Discrete Fourier transforms of many columns at once, with the real and the imaginary parts in separate arrays, by
// Stockham's algorithm, which needs no reordering: radices 4, 2, 3, 5 and other primes up to 31.
#pragma once

#include "twiddles.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t largest_radix = 31;

template <class R>
constexpr int64_t width_of = static_cast<int64_t>(lanes_of<R>);

// Whether all prime factors are at most largest_radix.
[[maybe_unused]] static bool is_smooth(int64_t n) {
  for (int64_t p = 2; p <= largest_radix; ++p)
    while (n % p == 0) n /= p;
  return n == 1;
}
[[maybe_unused]] static int64_t next_radix(int64_t n) {
  if (n % 4 == 0) return 4;
  for (int64_t p = 2; p <= largest_radix; ++p)
    if (n % p == 0) return p;
  return n;
}

template <class R>
HWY_INLINE void set_turn(R* re, R* im, int64_t at, Turn turn) {
  re[at] = static_cast<R>(turn.cosine);
  im[at] = static_cast<R>(-turn.sine);
}
// w^k = cos - i sin of 2 pi k / n for all k < n. The powers in the other octants are reflections of the powers in the
// first one.
template <class R>
void fill_turns(int64_t n, R* re, R* im) {
  const auto set = [&](int64_t k, double cosine, double sine) { set_turn(re, im, k, {cosine, sine}); };
  set(0, 1, 0);
  if (n % 4 != 0) {
    for (int64_t k = 1; 2 * k <= n; ++k) {
      const Turn turn = turn_of(k, n);
      set(n - k, turn.cosine, -turn.sine);
      set(k, turn.cosine, turn.sine);
    }
    return;
  }
  const int64_t quarter = n / 4;
  set(quarter, 0, 1);
  set(2 * quarter, -1, 0);
  set(3 * quarter, 0, -1);
  for (int64_t k = 1; 2 * k <= quarter; ++k) {
    const auto [cosine, sine] = turn_of(k, n);
    set(k, cosine, sine);
    set(quarter - k, sine, cosine);
    set(quarter + k, -sine, cosine);
    set(2 * quarter - k, -cosine, sine);
    set(2 * quarter + k, -cosine, -sine);
    set(3 * quarter - k, -sine, -cosine);
    set(3 * quarter + k, sine, -cosine);
    set(n - k, cosine, -sine);
  }
}

template <class R>
struct Parts {
  R *re, *im;
};

// One pass. x[q + s (p + m k)] becomes y[q + s (radix p + k)], for q < s, p < m; w is a table of `n` turns, of which
// every `step`-th is of the length radix * m.
template <class R>
struct Pass {
  using D = Full<R>;
  using V = hn::VFromD<D>;
  Parts<const R> x;
  Parts<R> y;
  int64_t m, s;
  Parts<const R> w;
  int64_t step, n;

  struct Number {
    V re, im;
  };
  HWY_INLINE Number load(int64_t at) const { return {hn::LoadU(D(), x.re + at), hn::LoadU(D(), x.im + at)}; }
  HWY_INLINE void store(int64_t at, Number v) const {
    hn::StoreU(v.re, D(), y.re + at);
    hn::StoreU(v.im, D(), y.im + at);
  }
  HWY_INLINE Number turn(int64_t k) const { return {hn::Set(D(), w.re[k]), hn::Set(D(), w.im[k])}; }
  static HWY_INLINE Number add(Number a, Number b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
  static HWY_INLINE Number subtract(Number a, Number b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
  static HWY_INLINE Number multiply(Number a, Number b) {
    return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
  }
  static HWY_INLINE Number scaled(R c, Number a) {
    return {hn::Mul(hn::Set(D(), c), a.re), hn::Mul(hn::Set(D(), c), a.im)};
  }
  // a + c b
  static HWY_INLINE Number plus_scaled(Number a, R c, Number b) {
    const V factor = hn::Set(D(), c);
    return {hn::MulAdd(factor, b.re, a.re), hn::MulAdd(factor, b.im, a.im)};
  }
  // -i a
  static HWY_INLINE Number turned(Number a) { return {a.im, hn::Neg(a.re)}; }

  void run2() const {
    for (int64_t p = 0; p < m; ++p) {
      const Number w1 = turn(p * step);
      for (int64_t q = 0; q < s; q += width_of<R>) {
        const Number a = load(q + s * p), b = load(q + s * (p + m));
        store(q + s * 2 * p, add(a, b));
        const Number difference = subtract(a, b);
        store(q + s * (2 * p + 1), p == 0 ? difference : multiply(difference, w1));
      }
    }
  }
  void run3() const {
    const R half_root = static_cast<R>(0.86602540378443864676);
    for (int64_t p = 0; p < m; ++p) {
      const Number w1 = turn(p * step), w2 = turn(2 * p * step);
      for (int64_t q = 0; q < s; q += width_of<R>) {
        const Number a = load(q + s * p), b = load(q + s * (p + m)), c = load(q + s * (p + 2 * m));
        const Number sum = add(b, c), difference = turned(scaled(half_root, subtract(b, c)));
        const Number middle = plus_scaled(a, R(-0.5), sum);
        store(q + s * 3 * p, add(a, sum));
        const Number y1 = add(middle, difference), y2 = subtract(middle, difference);
        store(q + s * (3 * p + 1), p == 0 ? y1 : multiply(y1, w1));
        store(q + s * (3 * p + 2), p == 0 ? y2 : multiply(y2, w2));
      }
    }
  }
  void run4() const {
    for (int64_t p = 0; p < m; ++p) {
      const Number w1 = turn(p * step), w2 = turn(2 * p * step), w3 = turn(3 * p * step);
      for (int64_t q = 0; q < s; q += width_of<R>) {
        const Number a = load(q + s * p), b = load(q + s * (p + m)), c = load(q + s * (p + 2 * m)),
                     d = load(q + s * (p + 3 * m));
        const Number ac = add(a, c), bd = add(b, d), rest = subtract(a, c), other = turned(subtract(b, d));
        store(q + s * 4 * p, add(ac, bd));
        const Number y1 = add(rest, other), y2 = subtract(ac, bd), y3 = subtract(rest, other);
        store(q + s * (4 * p + 1), p == 0 ? y1 : multiply(y1, w1));
        store(q + s * (4 * p + 2), p == 0 ? y2 : multiply(y2, w2));
        store(q + s * (4 * p + 3), p == 0 ? y3 : multiply(y3, w3));
      }
    }
  }
  void run5() const {
    const R c1 = static_cast<R>(0.30901699437494742410), c2 = static_cast<R>(-0.80901699437494742410),
            s1 = static_cast<R>(0.95105651629515357212), s2 = static_cast<R>(0.58778525229247312917);
    for (int64_t p = 0; p < m; ++p) {
      const Number w1 = turn(p * step), w2 = turn(2 * p * step), w3 = turn(3 * p * step), w4 = turn(4 * p * step);
      for (int64_t q = 0; q < s; q += width_of<R>) {
        const Number a = load(q + s * p), b = load(q + s * (p + m)), c = load(q + s * (p + 2 * m)),
                     d = load(q + s * (p + 3 * m)), e = load(q + s * (p + 4 * m));
        const Number be = add(b, e), cd = add(c, d), b_e = subtract(b, e), c_d = subtract(c, d);
        store(q + s * 5 * p, add(a, add(be, cd)));
        const Number even1 = plus_scaled(plus_scaled(a, c1, be), c2, cd),
                     even2 = plus_scaled(plus_scaled(a, c2, be), c1, cd);
        const Number odd1 = turned(plus_scaled(scaled(s1, b_e), s2, c_d)),
                     odd2 = turned(plus_scaled(scaled(s2, b_e), -s1, c_d));
        const Number y1 = add(even1, odd1), y4 = subtract(even1, odd1), y2 = add(even2, odd2),
                     y3 = subtract(even2, odd2);
        store(q + s * (5 * p + 1), p == 0 ? y1 : multiply(y1, w1));
        store(q + s * (5 * p + 2), p == 0 ? y2 : multiply(y2, w2));
        store(q + s * (5 * p + 3), p == 0 ? y3 : multiply(y3, w3));
        store(q + s * (5 * p + 4), p == 0 ? y4 : multiply(y4, w4));
      }
    }
  }
  // An odd prime: sums and differences of opposite elements share their cosines and sines.
  void run_prime(int64_t radix) const {
    const int64_t half = radix / 2, root = n / radix;  // w^root is a turn of the length radix
    for (int64_t p = 0; p < m; ++p)
      for (int64_t q = 0; q < s; q += width_of<R>) {
        Number sums[largest_radix / 2 + 1], differences[largest_radix / 2 + 1];
        const Number first = load(q + s * p);
        Number total = first;
        for (int64_t k = 1; k <= half; ++k) {
          const Number a = load(q + s * (p + m * k)), b = load(q + s * (p + m * (radix - k)));
          sums[k] = add(a, b);
          differences[k] = subtract(a, b);
          total = add(total, sums[k]);
        }
        store(q + s * radix * p, total);
        for (int64_t j = 1; j <= half; ++j) {
          Number even = first, odd{hn::Zero(D()), hn::Zero(D())};
          for (int64_t k = 1; k <= half; ++k) {
            const int64_t at = j * k % radix * root;
            even = plus_scaled(even, w.re[at], sums[k]);
            odd = plus_scaled(odd, -w.im[at], differences[k]);
          }
          odd = turned(odd);
          const Number y = add(even, odd), opposite = subtract(even, odd);
          const int64_t other = radix - j;
          store(q + s * (radix * p + j), p == 0 ? y : multiply(y, turn(j * p * step)));
          store(q + s * (radix * p + other), p == 0 ? opposite : multiply(opposite, turn(other * p * step)));
        }
      }
  }
};

// Transforms `columns` columns (a multiple of the lanes) of length n, in `a`; `b` has the same size. Returns the one of
// the two that has the result. w: n turns.
template <class R>
Parts<R> transform_columns(int64_t n, int64_t columns, Parts<R> a, Parts<R> b, Parts<const R> w) {
  int64_t rest = n, s = columns;
  while (rest > 1) {
    const int64_t radix = next_radix(rest), m = rest / radix;
    const Pass<R> pass{{a.re, a.im}, b, m, s, w, n / rest, n};
    switch (radix) {
      case 2:
        pass.run2();
        break;
      case 3:
        pass.run3();
        break;
      case 4:
        pass.run4();
        break;
      case 5:
        pass.run5();
        break;
      default:
        pass.run_prime(radix);
    }
    const Parts<R> other = a;
    a = b;
    b = other;
    s *= radix;
    rest = m;
  }
  return a;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
