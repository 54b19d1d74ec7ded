// Rounding to integers, and square roots: what the processor has an instruction for.
#include "blocks.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Floor {
  template <class D, class V>
  V operator()(D, V x) const {
    return hn::Floor(x);
  }
};
struct Ceil {
  template <class D, class V>
  V operator()(D, V x) const {
    return hn::Ceil(x);
  }
};
struct Trunc {
  template <class D, class V>
  V operator()(D, V x) const {
    return hn::Trunc(x);
  }
};
struct Round {
  template <class D, class V>
  V operator()(D, V x) const {
    return hn::Round(x);
  }
};  // half to even
struct Sqrt {
  template <class D, class V>
  V operator()(D, V x) const {
    return hn::Sqrt(x);
  }
};
struct Rsqrt {
  template <class D, class V>
  V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, hn::TFromD<D>(1)), hn::Sqrt(x));
  }
};
struct Same {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};

}  // namespace

ELEMENTWISE(floor, (vector_unary<Floor, FERRULE_FLOATS>() + unary<Same, FERRULE_INTEGERS>()))
ELEMENTWISE(ceil, (vector_unary<Ceil, FERRULE_FLOATS>() + unary<Same, FERRULE_INTEGERS>()))
ELEMENTWISE(trunc, (vector_unary<Trunc, FERRULE_FLOATS>() + unary<Same, FERRULE_INTEGERS>()))
ELEMENTWISE(round, (vector_unary<Round, FERRULE_FLOATS>() + unary<Same, FERRULE_INTEGERS>()))
ELEMENTWISE(sqrt, (vector_unary<Sqrt, FERRULE_FLOATS>()))
ELEMENTWISE(rsqrt, (vector_unary<Rsqrt, FERRULE_FLOATS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
