// Operations on contiguous rows that fit in cache: softmax, layer and root-mean-square normalisation. The order of
// every sum over a row depends on the row's length alone.
#pragma once

#include "reduction_blocks.h"
#include "scaled_elements.h"
#include "vector_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Applies f(vector, index) to each vector of the row; the last one is padded with `fill`.
template <class T, class F>
HWY_INLINE void for_vectors(const T* x, int64_t count, T fill, F f) {
  const Full<T> d;
  constexpr int64_t n = lanes_of<T>;
  int64_t i = 0;
  for (; i + n <= count; i += n) f(hn::LoadU(d, x + i), i, n);
  if (i < count) f(load_first<T>(d, x + i, static_cast<size_t>(count - i), fill), i, count - i);
}
template <class T, class V>
HWY_INLINE void store(V v, T* to, int64_t count) {
  const Full<T> d;
  if (HWY_LIKELY(count == static_cast<int64_t>(lanes_of<T>)))
    hn::StoreU(v, d, to);
  else
    store_first<T>(d, v, to, static_cast<size_t>(count));
}

// The longest row of halves: such a row is widened into memory of the thread, and the result is rounded from there.
// Longer rows are left to float32 copies of the whole operand.
constexpr int64_t longest_half_row = block_elements;
constexpr DTypes halves = one_of(DType::f16) | one_of(DType::bf16);

// Calls f with a value of the type that represents a floating-point dtype.
template <class F>
auto with_floating(DType dtype, F f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::f16:
      return f(Float16{});
    default:
      return f(BFloat16{});
  }
}

// The memory into which a thread widens its rows; empty if T is not a half.
template <class T>
struct WideRow {
  float *from, *to;
  WideRow(ScratchArena& scratch, int64_t width)
      : from(scratch.array<float>(is_half<T> ? width : 0)), to(scratch.array<float>(is_half<T> ? width : 0)) {}
};

// Calls row(x, width, y) on a row of T; halves are widened to float and the result is rounded.
template <class T, class Row>
HWY_INLINE void on_row(const T* x, int64_t width, T* y, const WideRow<T>& wide, Row row) {
  if constexpr (is_half<T>) {
    widen_all(x, width, wide.from);
    row(static_cast<const float*>(wide.from), width, wide.to);
    narrow_all(wide.to, width, y);
  } else {
    row(x, width, y);
  }
}

// The rows along the last axis, and the least number of rows for one task.
struct RowTasks {
  int64_t width, rows, grain;
  explicit RowTasks(const Operand& x)
      : width(x.shape[x.rank - 1]),
        rows(width == 0 ? 0 : count_of(x) / width),
        grain(larger(1, 16384 / larger(1, width))) {}
  int64_t threads() const { return ceil_div(rows, grain); }
};

// The sum (or maximum) of f(x) over a row of any length: blocks and a tree, as in reduce.h.
template <class Op, class T>
T reduce_row(const T* x, int64_t count) {
  if (count <= block_elements) return reduce_block<Op, T>(x, count);
  Tree<Op, T> tree;
  for (int64_t i = 0; i < count; i += block_elements)
    tree.add(reduce_block<Op, T>(x + i, smaller(block_elements, count - i)));
  return tree.total();
}

// y = exp(x - shift); returns the sum of y over at most block_elements.
template <class T>
HWY_NOINLINE T exp_and_sum(const T* x, int64_t count, T shift, T* y) {
  const Full<T> d;
  constexpr int64_t n = lanes_of<T>;
  const auto s = hn::Set(d, shift);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * n <= count; i += 2 * n) {
    const auto e0 = math::exp_of_nonpositive(d, hn::Sub(hn::LoadU(d, x + i), s));
    const auto e1 = math::exp_of_nonpositive(d, hn::Sub(hn::LoadU(d, x + i + n), s));
    hn::StoreU(e0, d, y + i);
    hn::StoreU(e1, d, y + i + n);
    sum0 = hn::Add(sum0, e0);
    sum1 = hn::Add(sum1, e1);
  }
  for (; i < count; i += n) {
    const int64_t width = smaller(n, count - i);
    const auto in = width == n ? hn::LoadU(d, x + i)
                               : load_first<T>(d, x + i, static_cast<size_t>(width), static_cast<T>(-HUGE_VAL));
    const auto e = math::exp_of_nonpositive(d, hn::Sub(in, s));
    store<T>(e, y + i, width);
    sum0 = hn::Add(sum0, e);
  }
  return fold_lanes<Sum, T>(d, hn::Add(sum0, sum1));
}

template <class T>
HWY_NOINLINE void scale_row(const T* x, int64_t count, T factor, T* y) {
  const Full<T> d;
  const auto f = hn::Set(d, factor);
  for_vectors<T>(x, count, T(0), [&](auto v, int64_t i, int64_t width) { store<T>(hn::Mul(v, f), y + i, width); });
}

template <class T>
void softmax_row(const T* x, int64_t count, T* y) {
  const T maximum = reduce_row<MaxOfNumbers, T>(x, count);
  T sum;
  if (count <= block_elements) {
    sum = exp_and_sum(x, count, maximum, y);
  } else {
    Tree<Sum, T> tree;
    for (int64_t i = 0; i < count; i += block_elements)
      tree.add(exp_and_sum(x + i, smaller(block_elements, count - i), maximum, y + i));
    sum = tree.total();
  }
  scale_row(y, count, T(1) / sum, y);
}

// log_softmax = (x - max) - log(sum)
template <class T>
void log_softmax_row(const T* x, int64_t count, T* y) {
  const Full<T> d;
  const T maximum = reduce_row<MaxOfNumbers, T>(x, count);
  Tree<Sum, T> tree;
  for (int64_t i = 0; i < count; i += block_elements)
    tree.add(exp_and_sum(x + i, smaller(block_elements, count - i), maximum, y + i));
  const T log_sum = static_cast<T>(::log(static_cast<double>(tree.total())));
  const auto shift = hn::Set(d, maximum), norm = hn::Set(d, log_sum);
  for_vectors<T>(x, count, T(0),
                 [&](auto v, int64_t i, int64_t n) { store<T>(hn::Sub(hn::Sub(v, shift), norm), y + i, n); });
}

// Sum of (x - center)^2 over at most block_elements.
template <class T>
HWY_NOINLINE T squares_block(const T* x, int64_t count, T center) {
  const Full<T> d;
  const auto c = hn::Set(d, center);
  constexpr int64_t n = lanes_of<T>;
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    const auto v0 = hn::Sub(hn::LoadU(d, x + i), c), v1 = hn::Sub(hn::LoadU(d, x + i + n), c);
    const auto v2 = hn::Sub(hn::LoadU(d, x + i + 2 * n), c), v3 = hn::Sub(hn::LoadU(d, x + i + 3 * n), c);
    sum0 = hn::MulAdd(v0, v0, sum0);
    sum1 = hn::MulAdd(v1, v1, sum1);
    sum2 = hn::MulAdd(v2, v2, sum2);
    sum3 = hn::MulAdd(v3, v3, sum3);
  }
  for (; i < count; i += n) {
    const int64_t width = smaller(n, count - i);
    const auto in = width == n ? hn::LoadU(d, x + i) : load_first<T>(d, x + i, static_cast<size_t>(width), center);
    const auto v = hn::Sub(in, c);
    sum0 = hn::MulAdd(v, v, sum0);
  }
  return fold_lanes<Sum, T>(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)));
}
template <class T>
T squares_row(const T* x, int64_t count, T center) {
  Tree<Sum, T> tree;
  for (int64_t i = 0; i < count; i += block_elements)
    tree.add(squares_block(x + i, smaller(block_elements, count - i), center));
  return tree.total();
}

// y = (x - center) * factor * weight + bias; weight and bias may be null.
template <class T>
HWY_NOINLINE void normalise_row(const T* x, int64_t count, T center, T factor, const T* weight, const T* bias, T* y) {
  const Full<T> d;
  constexpr int64_t n = lanes_of<T>;
  const auto c = hn::Set(d, center), f = hn::Set(d, factor);
  for (int64_t i = 0; i < count; i += n) {
    const int64_t width = smaller(n, count - i);
    const auto load = [&](const T* from) HWY_ATTR {
      return width == n ? hn::LoadU(d, from + i) : load_first<T>(d, from + i, static_cast<size_t>(width));
    };
    auto v = hn::Mul(hn::Sub(load(x), c), f);
    if (weight != nullptr) v = hn::Mul(v, load(weight));
    if (bias != nullptr) v = hn::Add(v, load(bias));
    store<T>(v, y + i, width);
  }
}

// The center of a row, 0 for rms_norm, and the mean of the squared distances to it, plus epsilon.
template <class T>
struct Spread {
  T center, square;
};
template <bool centered, class T>
HWY_INLINE Spread<T> spread_of(const T* x, int64_t count, T epsilon) {
  const T center = centered ? reduce_row<Sum, T>(x, count) / static_cast<T>(count) : T(0);
  return {center, squares_row(x, count, center) / static_cast<T>(count) + epsilon};
}
template <class T>
HWY_INLINE void normalise_by(Spread<T> spread, const T* x, int64_t count, const T* weight, const T* bias, T* y) {
  const T factor = T(1) / static_cast<T>(__builtin_sqrt(static_cast<double>(spread.square)));
  normalise_row(x, count, spread.center, factor, weight, bias, y);
}
// A row whose squares are out of range, from elements that are multiplied by a power of two.
template <bool centered, class T>
HWY_NOINLINE void scaled_norm_row(const T* x, int64_t count, T by, T epsilon, const T* weight, const T* bias, T* y) {
  scale_row(x, count, by, y);
  Spread<T> spread = spread_of<centered>(static_cast<const T*>(y), count, epsilon * by * by);
  // Equal elements give 0, even if the factor makes a positive epsilon vanish.
  if (epsilon > 0 && spread.square < Range<T>::least_square) spread.square = Range<T>::least_square;
  normalise_by<T>(spread, y, count, weight, bias, y);
}

template <bool centered, class T>
HWY_INLINE void norm_row(const T* x, int64_t count, T epsilon, const T* weight, const T* bias, T* y) {
  const Spread<T> spread = spread_of<centered>(x, count, epsilon);
  const T by = factor_for(spread.square);
  if (HWY_UNLIKELY(by != 1)) return scaled_norm_row<centered>(x, count, by, epsilon, weight, bias, y);
  normalise_by(spread, x, count, weight, bias, y);
}
template <class T>
void layer_norm_row(const T* x, int64_t count, T epsilon, const T* weight, const T* bias, T* y) {
  norm_row<true>(x, count, epsilon, weight, bias, y);
}
template <class T>
void rms_norm_row(const T* x, int64_t count, T epsilon, const T* weight, const T* bias, T* y) {
  norm_row<false>(x, count, epsilon, weight, bias, y);
}
}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
