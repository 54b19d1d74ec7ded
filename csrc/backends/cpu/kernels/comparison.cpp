// Elementwise tests with a bool result.
#include "elementwise.h"
#include "complex.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
// Integers are finite. A complex number is NaN or infinite if one of its parts is, and finite if both are.
struct IsNaN {
  template <class T>
  bool operator()(T a) const {
    return a != a;
  }
};
struct IsInf {
  template <class T>
  bool operator()(T a) const {
    return (a - a != T(0)) & (a == a);
  }
  template <class T>
  bool operator()(Complex<T> z) const {
    return (*this)(z.real) || (*this)(z.imaginary);
  }
};
struct IsFinite {
  template <class T>
  bool operator()(T a) const {
    return a - a == T(0);
  }
};
struct SignBit {
  bool operator()(float a) const { return __builtin_signbit(a) != 0; }
  bool operator()(double a) const { return __builtin_signbit(a) != 0; }
};

}  // namespace

ELEMENTWISE(equal, (compare<Equal, bool, FERRULE_FLOATS, FERRULE_INTEGERS, Complex64, Complex128>()))
ELEMENTWISE(not_equal, (compare<NotEqual, bool, FERRULE_FLOATS, FERRULE_INTEGERS, Complex64, Complex128>()))
ELEMENTWISE(less, (compare<Less, bool, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(less_equal, (compare<LessEqual, bool, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(greater, (compare<Greater, bool, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(greater_equal, (compare<GreaterEqual, bool, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(isnan, (test<IsNaN, FERRULE_FLOATS, FERRULE_INTEGERS, FERRULE_COMPLEX>()))
ELEMENTWISE(isinf, (test<IsInf, FERRULE_FLOATS, FERRULE_INTEGERS, FERRULE_COMPLEX>()))
ELEMENTWISE(isfinite, (test<IsFinite, FERRULE_FLOATS, FERRULE_INTEGERS, FERRULE_COMPLEX>()))
ELEMENTWISE(signbit, (test<SignBit, FERRULE_FLOATS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
