// The parts of a reduction whose order is fixed: a block of contiguous elements, with four vectors of accumulators, and
// the tree that combines the results of blocks.
#pragma once

#include "complex.h"
#include "reduction_operators.h"
#include "reduction_source.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Folds values in the order they arrive, as a balanced tree would: level i holds the result of 2^i values.
template <class Op, class A>
struct Tree {
  A level[48];
  uint64_t count = 0;
  void add(A value) {
    int i = 0;
    for (uint64_t n = count; n & 1; n >>= 1, ++i) value = Op::combine(level[i], value);
    level[i] = value;
    ++count;
  }
  A total() const {
    A sum = Op::template identity<A>();
    bool first = true;
    int i = 0;
    for (uint64_t n = count; n != 0; n >>= 1, ++i)
      if (n & 1) {
        sum = first ? level[i] : Op::combine(level[i], sum);
        first = false;
      }
    return sum;
  }
};

// Folds all lanes into one, upper half onto lower half.
template <class Op, class T, class V>
HWY_INLINE T fold_lanes(Full<T> d, V v) {
  alignas(64) T lanes[lanes_of<T>];
  if constexpr (HWY_MAX_BYTES >= 32) {
    const hn::Half<Full<T>> half;
    const auto folded = Op::combine(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v));
    if constexpr (HWY_MAX_BYTES >= 64) {
      const hn::Half<decltype(half)> quarter;
      hn::Store(Op::combine(quarter, hn::LowerHalf(quarter, folded), hn::UpperHalf(quarter, folded)), quarter, lanes);
    } else {
      hn::Store(folded, half, lanes);
    }
  } else {
    hn::Store(v, d, lanes);
  }
  for (size_t width = 8 / sizeof(T); width > 0; width /= 2)
    for (size_t j = 0; j < width; ++j) lanes[j] = Op::combine(lanes[j], lanes[j + width]);
  return lanes[0];
}

// The vector that fold_lanes makes the result of up to block_elements contiguous floats.
template <class Op, class T>
HWY_INLINE auto block_lanes(Full<T> d, const T* x, int64_t count) {
  constexpr int64_t n = lanes_of<T>;
  const auto none = hn::Set(d, Op::template identity<T>());
  auto s0 = none, s1 = none, s2 = none, s3 = none;
  int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    s0 = Op::combine(d, s0, hn::LoadU(d, x + i));
    s1 = Op::combine(d, s1, hn::LoadU(d, x + i + n));
    s2 = Op::combine(d, s2, hn::LoadU(d, x + i + 2 * n));
    s3 = Op::combine(d, s3, hn::LoadU(d, x + i + 3 * n));
  }
  for (; i + n <= count; i += n) s0 = Op::combine(d, s0, hn::LoadU(d, x + i));
  if (i < count)
    s1 = Op::combine(d, s1, load_first<T>(d, x + i, static_cast<size_t>(count - i), Op::template identity<T>()));
  return Op::combine(d, Op::combine(d, s0, s1), Op::combine(d, s2, s3));
}

// Rows of at most that length are reduced several at a time: they share what folding their lanes costs.
constexpr int64_t longest_short_row = 512;
template <class T>
constexpr int64_t short_rows = 16 / sizeof(T);

// Folds vectors to 16 bytes, upper half onto lower.
template <class Op, class D, class V>
HWY_INLINE auto fold_to_16_bytes(D, V v) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return fold_to_16_bytes<Op>(half, Op::combine(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Reduces short_rows<T> rows, row(0), row(1) ..., with the bits of reduce_block.
template <class Op, class T, class Row>
HWY_INLINE void reduce_short_rows(int64_t count, Row row, T* results) {
  const Full<T> d;
  const hn::FixedTag<T, short_rows<T>> few;
  const auto folded = [&](int64_t r) HWY_ATTR { return fold_to_16_bytes<Op>(d, block_lanes<Op>(d, row(r), count)); };
  const auto join = [&](auto a, auto b) HWY_ATTR {  // the lower and upper 8 bytes of two rows
    const hn::Repartition<double, decltype(few)> wide;
    const auto x = hn::BitCast(wide, a), y = hn::BitCast(wide, b);
    return Op::combine(few, hn::BitCast(few, hn::InterleaveLower(wide, x, y)),
                       hn::BitCast(few, hn::InterleaveUpper(wide, x, y)));
  };
  const auto a = folded(0), b = folded(1);
  if constexpr (short_rows<T> == 2) {
    hn::StoreU(join(a, b), few, results);
  } else {
    const auto c = folded(2), e = folded(3);
    const auto first = join(a, b), second = join(c, e);
    hn::StoreU(Op::combine(few, hn::ConcatEven(few, second, first), hn::ConcatOdd(few, second, first)), few, results);
  }
}

// Reduces up to block_elements contiguous elements. bool counts as 0 or 1.
template <class Op, class A, class T>
HWY_NOINLINE A reduce_block(const T* x, int64_t count) {
  if constexpr (is_float<T>) {
    const Full<T> d;
    return fold_lanes<Op, T>(d, block_lanes<Op>(d, x, count));
  } else if constexpr (is_complex<T>) {
    const T none = Op::template identity<T>();
    T sums[4] = {none, none, none, none};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
      for (int64_t k = 0; k < 4; ++k) sums[k] = Op::combine(sums[k], x[i + k]);
    for (; i < count; ++i) sums[0] = Op::combine(sums[0], x[i]);
    return Op::combine(Op::combine(sums[0], sums[1]), Op::combine(sums[2], sums[3]));
  } else if constexpr (__is_same(Op, Sum) && sizeof(T) <= 2) {
    int32_t sum = 0;  // more elements of a vector at once; 4096 elements of 16 bits fit
    for (int64_t i = 0; i < count; ++i) sum += x[i];
    return static_cast<A>(sum);
  } else {
    A sum = Op::template identity<A>();
    for (int64_t i = 0; i < count; ++i) sum = Op::combine(sum, static_cast<A>(x[i]));
    return sum;
  }
}

// The memory in which a thread gathers blocks of strided elements, and converts blocks, such as those of halves.
template <class T>
struct BlockBuffers {
  T* fetched;
  Computed<T>* wide;
  BlockBuffers(ScratchArena& scratch, const Nest& reduced)
      : fetched(scratch.array<T>(reduced.contiguous() ? 0 : smaller(block_elements, reduced.count()))),
        wide(scratch.array<Computed<T>>(is_converted<T> ? smaller(block_elements, reduced.count()) : 0)) {}
};

// `count` elements of the nest at place `at`, from index `first` on, at most a block, in the type they are computed in.
// See Source::run for `end`.
template <class T>
HWY_INLINE const Computed<T>* block_of(Source<T>& source, const Nest& reduced, int64_t at, int64_t first, int64_t count,
                                       int64_t end, const BlockBuffers<T>& buffers) {
  if (reduced.contiguous()) return computed(source.run(at + first, count, end), count, buffers.wide);
  source.fetch(reduced, at, first, count, buffers.fetched);
  return computed(static_cast<const T*>(buffers.fetched), count, buffers.wide);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
