// Reading the elements of a line into a transform, and writing its results.
//
// 2 n real numbers x are transformed as the n complex numbers z[j] = x[2 j] + i x[2 j + 1] (Cooley, Lewis & Welch
// 1970). With Z their transform, w = exp(-pi i / n) and Z[n] = Z[0], that of x is
//   X[k] = (Z[k] + conj(Z[n - k])) / 2 - i w^k (Z[k] - conj(Z[n - k])) / 2 for k from 0 to n,
// and back, without the factors of inverse transforms,
//   Z[k] = X[k] + conj(X[n - k]) + i w^-k (X[k] - conj(X[n - k])).
#pragma once

#include "plan.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// cos and sin of the angles pi (k + lane) / n, for the lanes of a vector, or of pi k / n for all of them.
template <class R>
struct PairTurns {
  using V = hn::VFromD<Full<R>>;
  V cosine, sine;

  static HWY_INLINE PairTurns from(const Plan<R>& plan, int64_t k) {
    const PairTurns first = at(plan, k);
    const Full<R> d;
    const V re = hn::Load(d, plan.pair_across.re), im = hn::Load(d, plan.pair_across.im);
    return {hn::MulAdd(first.sine, im, hn::Mul(first.cosine, re)),
            hn::NegMulAdd(first.cosine, im, hn::Mul(first.sine, re))};
  }
  static HWY_INLINE PairTurns at(const Plan<R>& plan, int64_t k) {
    const Turn turn = plan.pair_turns.turn(k);
    return {hn::Set(Full<R>(), static_cast<R>(turn.cosine)), hn::Set(Full<R>(), static_cast<R>(turn.sine))};
  }
};

template <class V>
struct ComplexLanes {
  V re, im;
};

// Z[k] of a = X[k] and b = X[n - k].
template <class R, class V = hn::VFromD<Full<R>>>
HWY_INLINE ComplexLanes<V> folded(ComplexLanes<V> a, ComplexLanes<V> b, PairTurns<R> turn) {
  const V difference_re = hn::Sub(a.re, b.re), difference_im = hn::Add(a.im, b.im);
  return {hn::NegMulAdd(turn.cosine, difference_im, hn::NegMulAdd(turn.sine, difference_re, hn::Add(a.re, b.re))),
          hn::MulAdd(turn.cosine, difference_re, hn::NegMulAdd(turn.sine, difference_im, hn::Sub(a.im, b.im)))};
}
template <class R>
HWY_INLINE void folded(const Plan<R>& plan, int64_t k, const R* a, const R* b, R& re, R& im) {
  if (k == 0) {  // whose imaginary parts do not count
    re = a[0] + b[0];
    im = a[0] - b[0];
    return;
  }
  const Turn turn = plan.pair_turns.turn(k);
  const R cosine = static_cast<R>(turn.cosine), sine = static_cast<R>(turn.sine);
  const R difference_re = a[0] - b[0], difference_im = a[1] + b[1];
  re = a[0] + b[0] - sine * difference_re - cosine * difference_im;
  im = a[1] - b[1] - sine * difference_im + cosine * difference_re;
}

// X[k] and X[n - k] in place of a = Z[k] and b = Z[n - k].
template <class R, class V = hn::VFromD<Full<R>>>
HWY_INLINE void unfold(ComplexLanes<V>& a, ComplexLanes<V>& b, PairTurns<R> turn) {
  const V half = hn::Set(Full<R>(), R(0.5));
  const V sum_re = hn::Mul(half, hn::Add(a.re, b.re)), sum_im = hn::Mul(half, hn::Sub(a.im, b.im));
  const V difference_re = hn::Mul(half, hn::Sub(a.re, b.re)), difference_im = hn::Mul(half, hn::Add(a.im, b.im));
  const V odd_re = hn::NegMulAdd(turn.sine, difference_re, hn::Mul(turn.cosine, difference_im));
  const V odd_im = hn::Neg(hn::MulAdd(turn.sine, difference_im, hn::Mul(turn.cosine, difference_re)));
  a = {hn::Add(sum_re, odd_re), hn::Add(sum_im, odd_im)};
  b = {hn::Sub(sum_re, odd_re), hn::Sub(odd_im, sum_im)};
}

// Elements [begin, end) of Z, from 0 to n / 2, and those opposite to them, become elements of X, in place in a line of
// n + 1 complex numbers.
template <class R>
void unfold_line(const Plan<R>& plan, R* line, int64_t stride, int64_t begin, int64_t end) {
  constexpr int64_t width = width_of<R>;
  const Full<R> d;
  const int64_t n = plan.n;
  int64_t k = begin;
  if (k == 0) {
    const R re = line[0], im = line[1];
    R* const last = line + 2 * n * stride;
    line[0] = re + im;
    last[0] = re - im;
    line[1] = last[1] = 0;
    ++k;
  }
  for (; stride == 1 && k + width <= end && 2 * (k + width - 1) < n; k += width) {
    R *const up = line + 2 * k, *const down = line + 2 * (n - k - width + 1);
    ComplexLanes<hn::VFromD<Full<R>>> a{hn::Zero(d), hn::Zero(d)}, b = a;
    hn::LoadInterleaved2(d, up, a.re, a.im);
    hn::LoadInterleaved2(d, down, b.re, b.im);
    b = {hn::Reverse(d, b.re), hn::Reverse(d, b.im)};
    unfold(a, b, PairTurns<R>::from(plan, k));
    hn::StoreInterleaved2(a.re, a.im, d, up);
    hn::StoreInterleaved2(hn::Reverse(d, b.re), hn::Reverse(d, b.im), d, down);
  }
  for (; k < end; ++k) {
    R *const a = line + 2 * k * stride, *const b = line + 2 * (n - k) * stride;
    if (a == b) {
      a[1] = R(0) - a[1];  // no zero becomes negative
      continue;
    }
    const Turn turn = plan.pair_turns.turn(k);
    const R cosine = static_cast<R>(turn.cosine), sine = static_cast<R>(turn.sine);
    const R sum_re = R(0.5) * (a[0] + b[0]), sum_im = R(0.5) * (a[1] - b[1]);
    const R difference_re = R(0.5) * (a[0] - b[0]), difference_im = R(0.5) * (a[1] + b[1]);
    const R odd_re = cosine * difference_im - sine * difference_re;
    const R odd_im = -(cosine * difference_re + sine * difference_im);
    a[0] = sum_re + odd_re;
    a[1] = sum_im + odd_im;
    b[0] = sum_re - odd_re;
    b[1] = odd_im - sum_im;
  }
}

// Calls `step` for opposite rows k and n - k of lines side by side: row k has element k of each line.
template <class R, class Step>
void for_opposite_rows(const Plan<R>& plan, Parts<R> rows, Step step) {
  constexpr int64_t width = width_of<R>;
  const Full<R> d;
  using Lanes = ComplexLanes<hn::VFromD<Full<R>>>;
  const auto load = [&](int64_t k) {
    return Lanes{hn::Load(d, rows.re + k * width), hn::Load(d, rows.im + k * width)};
  };
  const auto store = [&](int64_t k, Lanes x) {
    hn::Store(x.re, d, rows.re + k * width);
    hn::Store(x.im, d, rows.im + k * width);
  };
  for (int64_t k = 1; 2 * k <= plan.n; ++k) {
    Lanes a = load(k), b = load(plan.n - k);
    step(a, b, k);
    store(plan.n - k, b);
    store(k, a);  // the middle element is its own opposite
  }
}
template <class R>
void unfold_rows(const Plan<R>& plan, Parts<R> rows) {
  constexpr int64_t width = width_of<R>;
  const Full<R> d;
  const int64_t last = plan.n * width;
  const auto re = hn::Load(d, rows.re), im = hn::Load(d, rows.im);
  hn::Store(hn::Add(re, im), d, rows.re);
  hn::Store(hn::Sub(re, im), d, rows.re + last);
  hn::Store(hn::Zero(d), d, rows.im);
  hn::Store(hn::Zero(d), d, rows.im + last);
  for_opposite_rows(plan, rows, [&](auto& a, auto& b, int64_t k) {
    if (2 * k == plan.n)
      a.im = hn::Sub(hn::Zero(Full<R>()), a.im);
    else
      unfold(a, b, PairTurns<R>::at(plan, k));
  });
}
template <class R>
void fold_rows(const Plan<R>& plan, Parts<R> rows) {
  const Full<R> d;
  const auto first = hn::Load(d, rows.re), last = hn::Load(d, rows.re + plan.n * width_of<R>);
  hn::Store(hn::Add(first, last), d, rows.re);
  hn::Store(hn::Sub(first, last), d, rows.im);
  for_opposite_rows(plan, rows, [&](auto& a, auto& b, int64_t k) {
    auto turn = PairTurns<R>::at(plan, k);
    const auto z = folded(a, b, turn);
    turn.cosine = hn::Neg(turn.cosine);  // of pi (n - k) / n
    b = folded(b, a, turn);
    a = z;
  });
}

// The elements of lines that are transformed.
template <class R>
struct Source {
  enum Kind {
    complex,
    real,    // n of them
    half,    // the first half of the transform of n real numbers, where n is odd
    pairs,   // 2 n real numbers
    folding  // the first n + 1 elements of the transform of 2 n real numbers
  } kind;
  const R* data;
  const Plan<R>& plan;
  int64_t stride;
  bool exchanged;  // the inverse transform exchanges real and imaginary parts before and after

  int64_t reals_of_line() const {
    const int64_t n = plan.n;
    return kind == real ? n : kind == half ? 2 * (n / 2 + 1) : kind == folding ? 2 * (n + 1) : 2 * n;
  }
  int64_t reals_of_item() const { return kind == real || kind == pairs ? 1 : 2; }

  // Element j as it lies in memory.
  HWY_INLINE void read_given(const R* line, int64_t j, R& a, R& b) const {
    b = 0;
    if (kind == real) {
      a = line[j * stride];
    } else if (kind == pairs) {
      a = line[2 * j * stride];
      b = line[(2 * j + 1) * stride];
    } else if (kind != half || 2 * j <= plan.n) {
      a = line[2 * j * stride];
      if (kind != half || j != 0) b = line[2 * j * stride + 1];
    } else {
      a = line[2 * (plan.n - j) * stride];
      b = -line[2 * (plan.n - j) * stride + 1];
    }
  }
  HWY_INLINE void read(const R* line, int64_t j, R& re, R& im) const {
    R a, b;
    if (kind == folding)
      folded(plan, j, line + 2 * j * stride, line + 2 * (plan.n - j) * stride, a, b);
    else
      read_given(line, j, a, b);
    re = exchanged ? b : a;
    im = exchanged ? a : b;
  }
  void read_run(const R* line, int64_t first, int64_t count, R* re, R* im) const {
    const bool is_vector = stride == 1 && count == width_of<R> && kind != real && kind != half;
    if (!is_vector || (kind == folding && first == 0)) {
      for (int64_t i = 0; i < count; ++i) read(line, first + i, re[i], im[i]);
      return;
    }
    const Full<R> d;
    ComplexLanes<hn::VFromD<Full<R>>> a{hn::Zero(d), hn::Zero(d)}, b = a;
    hn::LoadInterleaved2(d, line + 2 * first, a.re, a.im);
    if (kind == folding) {
      hn::LoadInterleaved2(d, line + 2 * (plan.n - first - count + 1), b.re, b.im);
      a = folded(a, {hn::Reverse(d, b.re), hn::Reverse(d, b.im)}, PairTurns<R>::from(plan, first));
    }
    hn::StoreU(exchanged ? a.im : a.re, d, re);
    hn::StoreU(exchanged ? a.re : a.im, d, im);
  }
  // Elements j of as many lines as there are lanes, which lie beside each other.
  bool reads_rows() const { return kind != half; }
  HWY_INLINE void read_row(const R* line, int64_t j, R* re, R* im) const {
    const Full<R> d;
    auto a = hn::Zero(d), b = a;
    if (kind == real) {
      a = hn::LoadU(d, line + j * stride);
    } else if (kind == pairs) {
      a = hn::LoadU(d, line + 2 * j * stride);
      b = hn::LoadU(d, line + (2 * j + 1) * stride);
    } else {
      hn::LoadInterleaved2(d, line + 2 * j * stride, a, b);
    }
    hn::Store(a, d, re);
    hn::Store(b, d, im);
  }
};

// The lines that results are written to.
template <class R>
struct Target {
  enum Kind {
    complex,
    half,       // the first half of the transform of n real numbers, where n is odd
    real,       // real parts
    unfolding,  // the first n + 1 elements of the transform of 2 n real numbers
    pairs       // 2 n real numbers
  } kind;
  R* data;
  const Plan<R>& plan;
  int64_t stride;
  bool exchanged;
  R scale;

  int64_t reals_of_line() const {
    const int64_t n = plan.n;
    return kind == real ? n : kind == half ? 2 * (n / 2 + 1) : kind == unfolding ? 2 * (n + 1) : 2 * n;
  }
  int64_t reals_of_item() const { return kind == real || kind == pairs ? 1 : 2; }

  HWY_INLINE void write(R* line, int64_t k, R re, R im) const {
    const R a = scale * (exchanged ? im : re), b = scale * (exchanged ? re : im);
    if (kind == real) {
      line[k * stride] = a;
    } else if (kind == pairs) {
      line[2 * k * stride] = a;
      line[(2 * k + 1) * stride] = b;
    } else if (kind != half || 2 * k <= plan.n) {
      line[2 * k * stride] = a;
      line[2 * k * stride + 1] = b;
    }
  }
  void write_run(R* line, int64_t first, int64_t count, const R* re, const R* im) const {
    if (stride == 1 && count == width_of<R> && kind != real && kind != half) {
      const Full<R> d;
      const auto factor = hn::Set(d, scale);
      const auto a = hn::Mul(factor, hn::LoadU(d, exchanged ? im : re)),
                 b = hn::Mul(factor, hn::LoadU(d, exchanged ? re : im));
      hn::StoreInterleaved2(a, b, d, line + 2 * first);
      return;
    }
    for (int64_t i = 0; i < count; ++i) write(line, first + i, re[i], im[i]);
  }
  // The elements of a line that are written side by side: `unfolding` has one more than the transform.
  int64_t rows() const { return kind == half ? plan.n / 2 + 1 : plan.n + (kind == unfolding ? 1 : 0); }
  HWY_INLINE void write_row(R* line, int64_t k, const R* re, const R* im) const {
    const Full<R> d;
    const auto factor = hn::Set(d, scale);
    const auto a = hn::Mul(factor, hn::Load(d, exchanged ? im : re)),
               b = hn::Mul(factor, hn::Load(d, exchanged ? re : im));
    if (kind == real) {
      hn::StoreU(a, d, line + k * stride);
    } else if (kind == pairs) {
      hn::StoreU(a, d, line + 2 * k * stride);
      hn::StoreU(b, d, line + (2 * k + 1) * stride);
    } else {
      hn::StoreInterleaved2(a, b, d, line + 2 * k * stride);
    }
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
