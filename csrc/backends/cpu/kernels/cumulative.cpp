// Cumulative sums and products along an axis.
//
// Products are computed from the first element to the last. Sums are computed in blocks of 2048 elements: each block
// from its first element to its last, starting anew, and then the sum of all blocks before it, which are added up in
// their order, is added to each element of the block. So the blocks of a long row can be computed by several threads,
// and the result depends on neither their number nor on the other rows. Half-precision elements are added and
// multiplied in float32, and each result is rounded once; integers have results of 64 bits, and wrap.
#include "cancellation.h"
#include "complex.h"
#include "op_attributes.h"
#include "element_types.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t block = 2048;

// The types in which elements are accumulated; integers wrap only if they are unsigned.
template <class T>
constexpr bool is_integer = !is_complex<T> && !is_half<T>;
template <>
constexpr bool is_integer<float> = false;
template <>
constexpr bool is_integer<double> = false;
template <class T, bool = is_integer<T>>
struct AccumulatedIn {
  using Type = Computed<T>;
};
template <class T>
struct AccumulatedIn<T, true> {
  using Type = uint64_t;
};
template <class T>
using Accumulated = typename AccumulatedIn<T>::Type;

template <class T>
HWY_INLINE Accumulated<T> accumulated(T x) {
  if constexpr (is_half<T>)
    return widen(x);
  else if constexpr (is_complex<T>)
    return x;
  else
    return static_cast<Accumulated<T>>(x);
}
template <class T>
HWY_INLINE T to_element(Accumulated<T> x) {
  if constexpr (is_half<T>)
    return stored<T>(x);
  else if constexpr (is_complex<T>)
    return x;
  else
    return static_cast<T>(x);
}

struct Add {
  static constexpr bool in_blocks = true;
  template <class A>
  static HWY_INLINE A combine(A a, A b) {
    return a + b;
  }
  template <class T>
  static T identity() {
    return T{};
  }
};
struct Multiply {
  static constexpr bool in_blocks = false;
  template <class A>
  static HWY_INLINE A combine(A a, A b) {
    return a * b;
  }
  template <class T>
  static T identity() {
    if constexpr (is_complex<T>)
      return {1, 0};
    else
      return to_element<T>(Accumulated<T>(1));
  }
};

// x as [outer][length][inner], contiguous; y has an element more along the axis if the identity comes first.
template <class T, class Out>
struct Problem {
  const T* x;
  Out* y;
  int64_t outer = 1, length, inner = 1, initial;
  Problem(const Call& call, int64_t axis, bool include_initial)
      : x(reinterpret_cast<const T*>(call.in[0].data)),
        y(reinterpret_cast<Out*>(call.out[0].data)),
        length(call.in[0].shape[axis]),
        initial(include_initial ? 1 : 0) {
    for (int32_t i = 0; i < axis; ++i) outer *= call.in[0].shape[i];
    for (int32_t i = static_cast<int32_t>(axis) + 1; i < call.in[0].rank; ++i) inner *= call.in[0].shape[i];
  }
  const T* from(int64_t row) const { return x + row * length * inner; }
  Out* to(int64_t row) const { return y + (row * (length + initial) + initial) * inner; }
};

// A part of a row: its elements are side by side. `total` is the result for the elements before it, or null. Sums start
// anew, and the total is added to each; products continue from it. Returns the last sum or product.
template <class Op, class T, class Out>
Accumulated<T> scan(const T* x, int64_t n, const Accumulated<T>* total, Out* y) {
  Accumulated<T> sum = accumulated(x[0]);
  if (!Op::in_blocks && total != nullptr) sum = Op::combine(*total, sum);
  const bool adds_total = Op::in_blocks && total != nullptr;
  y[0] = to_element<Out>(adds_total ? Op::combine(*total, sum) : sum);
  for (int64_t i = 1; i < n; ++i) {
    sum = Op::combine(sum, accumulated(x[i]));
    y[i] = to_element<Out>(adds_total ? Op::combine(*total, sum) : sum);
  }
  return sum;
}

template <class Op, class T, class Out>
fe_error* scan_rows(const Call& call, const Problem<T, Out>& problem) {
  using A = Accumulated<T>;
  const int64_t length = problem.length, width = Op::in_blocks ? block : 512 * block, grain = larger(1, 8192 / length);
  return parallel_with_local(call, problem.outer, grain, [&](int64_t begin, int64_t end, char*) -> fe_error* {
    for (int64_t row = begin; row < end; ++row) {
      const T* const x = problem.from(row);
      Out* const y = problem.to(row);
      A total = scan<Op>(x, smaller(width, length), nullptr, y);
      for (int64_t i = width; i < length; i += width) {
        if (i % (512 * block) == 0)
          if (fe_error* const error = cancelled(call)) return error;
        const A sum = scan<Op>(x + i, smaller(width, length - i), &total, y + i);
        total = Op::in_blocks ? Op::combine(total, sum) : sum;
      }
    }
    return nullptr;
  });
}

// Several columns side by side: `width` of them, of a row of `inner`. `local` has room for two accumulators of each.
constexpr int64_t columns_together = 256;
template <class Op, class T, class Out>
fe_error* scan_columns(const Call& call, const T* x, int64_t length, int64_t inner, int64_t width, Out* y,
                       Accumulated<T>* sums, Accumulated<T>* totals) {
  for (int64_t i = 0; i < length; ++i, x += inner, y += inner) {
    if (i > 0 && i % (8 * block) == 0)
      if (fe_error* const error = cancelled(call)) return error;
    const int64_t place = Op::in_blocks ? i % block : i;
    if (place == 0) {
      for (int64_t k = 0; i > 0 && k < width; ++k) totals[k] = i == block ? sums[k] : Op::combine(totals[k], sums[k]);
      for (int64_t k = 0; k < width; ++k) sums[k] = accumulated(x[k]);
    } else {
      for (int64_t k = 0; k < width; ++k) sums[k] = Op::combine(sums[k], accumulated(x[k]));
    }
    if (Op::in_blocks && i >= block)
      for (int64_t k = 0; k < width; ++k) y[k] = to_element<Out>(Op::combine(totals[k], sums[k]));
    else
      for (int64_t k = 0; k < width; ++k) y[k] = to_element<Out>(sums[k]);
  }
  return nullptr;
}

template <class Op, class T, class Out>
fe_error* accumulate(const Call& call, int64_t axis, bool include_initial) {
  using A = Accumulated<T>;
  const Problem<T, Out> problem(call, axis, include_initial);
  if (problem.outer == 0 || problem.inner == 0) return nullptr;
  if (include_initial)
    for (int64_t row = 0; row < problem.outer; ++row)
      for (int64_t k = 0; k < problem.inner; ++k) problem.to(row)[k - problem.inner] = Op::template identity<Out>();
  if (problem.length == 0) return nullptr;
  if (problem.inner == 1) return scan_rows<Op>(call, problem);
  const int64_t strips = ceil_div(problem.inner, columns_together);
  return parallel_with_local(call, problem.outer * strips, 1, [&](int64_t begin, int64_t end, char* local) {
    A* const sums = reinterpret_cast<A*>(local);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / strips, first = i % strips * columns_together;
      fe_error* const error = scan_columns<Op>(call, problem.from(row) + first, problem.length, problem.inner,
                                               smaller(columns_together, problem.inner - first),
                                               problem.to(row) + first, sums, sums + columns_together);
      if (error != nullptr) return error;
    }
    return static_cast<fe_error*>(nullptr);
  });
}

// Calls f with values of the types of the elements and of the results. Integers accumulate in uint64_t, which gives
// int64 results the same bits.
template <class F>
void with_types(DType in, DType out, F f) {
  const auto with = [&](auto zero) {
    if constexpr (is_integer<decltype(zero)>) {
      if (out == DType::i64 || out == DType::u64) f(zero, uint64_t{});
    } else if (out == in) {
      f(zero, zero);
    }
  };
  with_type(in, with);
  with_complex_type(in, with);
}

template <class Op, class Attributes>
fe_error* run(const Call& call) {
  const auto& attributes = attributes_of<Attributes>(call);
  fe_error* error = nullptr;
  with_types(call.in[0].dtype, call.out[0].dtype, [&](auto in, auto out) {
    error = accumulate<Op, decltype(in), decltype(out)>(call, attributes.axis, attributes.include_initial != 0);
  });
  return error;
}

template <class Attributes>
bool accepts(const Call& call) {
  const auto& attributes = attributes_of<Attributes>(call);
  const Operand &x = call.in[0], &y = call.out[0];
  if (y.rank != x.rank) return false;
  for (int32_t axis = 0; axis < x.rank; ++axis)
    if (y.shape[axis] != x.shape[axis] + (axis == attributes.axis && attributes.include_initial != 0 ? 1 : 0))
      return false;
  bool is_known = false;
  with_types(x.dtype, y.dtype, [&](auto, auto) { is_known = true; });
  return is_known;
}

LocalScratch local_scratch(const Call&) { return {2 * columns_together * sizeof(Complex128), INT32_MAX}; }

}  // namespace

KERNEL(cumulative_sum, .revision = 2, .layouts = {FE_LAYOUT_CONTIGUOUS},
       .accepts = accepts<fe_cumulative_sum_attributes>, .local_scratch = local_scratch) {
  return run<Add, fe_cumulative_sum_attributes>(call);
}

KERNEL(cumulative_prod, .revision = 2, .layouts = {FE_LAYOUT_CONTIGUOUS},
       .accepts = accepts<fe_cumulative_prod_attributes>, .local_scratch = local_scratch) {
  return run<Multiply, fe_cumulative_prod_attributes>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
