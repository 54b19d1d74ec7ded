// The error function and its complement.
#include "elementwise.h"
#include "vector_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Erf {
  template <class V>
  V operator()(Full<float> d, V x) const {
    return math::erf(d, x);
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

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
