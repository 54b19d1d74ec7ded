// Rounding to integers.
#include "complex.h"
#include "elementwise.h"

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
struct Same {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};

constexpr auto round_parts = elementwise_kernels(
    ElementwiseKernel{run_on_parts<run_vector_unary<Round, float>>, {DType::c64}, 1, DType::c64},
    ElementwiseKernel{run_on_parts<run_vector_unary<Round, double>>, {DType::c128}, 1, DType::c128});

}  // namespace

ELEMENTWISE(floor, (vector_unary<Floor, FERRULE_FLOATS>() + unary<Same, FERRULE_INTEGERS>()))
ELEMENTWISE(ceil, (vector_unary<Ceil, FERRULE_FLOATS>() + unary<Same, FERRULE_INTEGERS>()))
ELEMENTWISE(trunc, (vector_unary<Trunc, FERRULE_FLOATS>() + unary<Same, FERRULE_INTEGERS>()))
ELEMENTWISE(round, (vector_unary<Round, FERRULE_FLOATS>() + unary<Same, FERRULE_INTEGERS>() + round_parts))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
