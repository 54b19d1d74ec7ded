// Activation functions of neural networks, and erf, on which gelu rests.
#include "blocks.h"
#include "vector_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Erf {
  template <class V>
  V operator()(Full<float> d, V x) const {
    return math::erf(d, x);
  }
};
struct Sigmoid {
  template <class D, class V>
  V operator()(D d, V x) const {
    return math::sigmoid(d, x);
  }
};
struct Silu {
  template <class D, class V>
  V operator()(D d, V x) const {
    return math::silu(d, x);
  }
};
struct Relu {
  template <class T>
  T operator()(T x) const {
    return x > T(0) || x != x ? x : T(0);
  }
};
struct ScalarErf {
  double operator()(double x) const { return ::erf(x); }
};
struct ScalarErfc {
  float operator()(float x) const { return static_cast<float>(::erfc(double{x})); }
  double operator()(double x) const { return ::erfc(x); }
};

}  // namespace

ELEMENTWISE(erf, (vector_unary<Erf, float>() + unary<ScalarErf, double>()))
ELEMENTWISE(erfc, (unary<ScalarErfc, FERRULE_FLOATS>()))
ELEMENTWISE(sigmoid, (vector_unary<Sigmoid, FERRULE_FLOATS>()))
ELEMENTWISE(silu, (vector_unary<Silu, FERRULE_FLOATS>()))
ELEMENTWISE(relu, (unary<Relu, FERRULE_FLOATS, FERRULE_INTEGERS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
