// The operators of reductions: the identity, and the combination of two values and of two vectors.
#pragma once

#include "element_types.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Sum {
  template <class A>
  static constexpr A identity() {
    return A(0);
  }
  template <class A>
  static A combine(A a, A b) {
    return static_cast<A>(a + b);
  }
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    return hn::Add(a, b);
  }
};
struct Product {
  template <class A>
  static constexpr A identity() {
    return A(1);
  }
  template <class A>
  static A combine(A a, A b) {
    return static_cast<A>(a * b);
  }
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    return hn::Mul(a, b);
  }
};
template <class A>
constexpr A lowest() {
  if constexpr (is_float<A>)
    return static_cast<A>(-HUGE_VAL);
  else if constexpr (A(-1) < A(0))
    return static_cast<A>(A(1) << (sizeof(A) * 8 - 1));
  else
    return A(0);
}
template <class A>
constexpr A highest() {
  if constexpr (is_float<A>)
    return static_cast<A>(HUGE_VAL);
  else
    return static_cast<A>(~lowest<A>());
}
struct Max {  // NaN wins
  template <class A>
  static constexpr A identity() {
    return lowest<A>();
  }
  template <class A>
  static A combine(A a, A b) {
    return ((a > b) | (a != a)) ? a : b;
  }
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
};
// A maximum of one instruction, for rows where a sum over the same elements detects NaN.
struct MaxOfNumbers {
  template <class A>
  static constexpr A identity() {
    return lowest<A>();
  }
  template <class A>
  static A combine(A a, A b) {
    return a > b ? a : b;
  }
  template <class D, class V>
  static HWY_INLINE V combine(D d, V a, V b) {
    (void)d;
    return hn::Max(a, b);
  }
};
struct Min {
  template <class A>
  static constexpr A identity() {
    return highest<A>();
  }
  template <class A>
  static A combine(A a, A b) {
    return ((a < b) | (a != a)) ? a : b;
  }
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
};
struct Any {
  template <class A>
  static constexpr A identity() {
    return A(0);
  }
  template <class A>
  static A combine(A a, A b) {
    return static_cast<A>(a | b);
  }
};
struct All {
  template <class A>
  static constexpr A identity() {
    return A(1);
  }
  template <class A>
  static A combine(A a, A b) {
    return static_cast<A>(a & b);
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
