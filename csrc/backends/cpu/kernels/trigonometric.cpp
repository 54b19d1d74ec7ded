// Trigonometric and hyperbolic functions, and their inverses.
#include "complex_math.h"
#include "elementwise.h"
#include "trigonometric_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Float32 by vectors, float64 by the C library.
#define FERRULE_FUNCTION(Name, name)                        \
  struct Name {                                             \
    template <class V>                                      \
    V operator()(Full<float> d, V x) const {                \
      return math::name(d, x);                              \
    }                                                       \
    double operator()(double x) const { return ::name(x); } \
  };
FERRULE_FUNCTION(Sin, sin)
FERRULE_FUNCTION(Cos, cos)
FERRULE_FUNCTION(Tanh, tanh)
FERRULE_FUNCTION(Tan, tan)
FERRULE_FUNCTION(Asin, asin)
FERRULE_FUNCTION(Acos, acos)
FERRULE_FUNCTION(Atan, atan)
FERRULE_FUNCTION(Sinh, sinh)
FERRULE_FUNCTION(Cosh, cosh)
FERRULE_FUNCTION(Asinh, asinh)
FERRULE_FUNCTION(Acosh, acosh)
FERRULE_FUNCTION(Atanh, atanh)
#undef FERRULE_FUNCTION

struct Atan2 {
  template <class V>
  V operator()(Full<float> d, V y, V x) const {
    return math::atan2(d, y, x);
  }
  double operator()(double y, double x) const { return ::atan2(y, x); }
};

}  // namespace

ELEMENTWISE(sin, (vector_unary<Sin, float>() + unary<Sin, double>() + in_double<complex_math::Sin>()))
ELEMENTWISE(cos, (vector_unary<Cos, float>() + unary<Cos, double>() + in_double<complex_math::Cos>()))
ELEMENTWISE(tanh, (vector_unary<Tanh, float>() + unary<Tanh, double>() + in_double<complex_math::Tanh>()))
ELEMENTWISE(tan, (vector_unary<Tan, float>() + unary<Tan, double>() + in_double<complex_math::Tan>()))
ELEMENTWISE(asin, (vector_unary<Asin, float>() + unary<Asin, double>() + in_double<complex_math::Asin>()))
ELEMENTWISE(acos, (vector_unary<Acos, float>() + unary<Acos, double>() + in_double<complex_math::Acos>()))
ELEMENTWISE(atan, (vector_unary<Atan, float>() + unary<Atan, double>() + in_double<complex_math::Atan>()))
ELEMENTWISE(sinh, (vector_unary<Sinh, float>() + unary<Sinh, double>() + in_double<complex_math::Sinh>()))
ELEMENTWISE(cosh, (vector_unary<Cosh, float>() + unary<Cosh, double>() + in_double<complex_math::Cosh>()))
ELEMENTWISE(asinh, (vector_unary<Asinh, float>() + unary<Asinh, double>() + in_double<complex_math::Asinh>()))
ELEMENTWISE(acosh, (vector_unary<Acosh, float>() + unary<Acosh, double>() + in_double<complex_math::Acosh>()))
ELEMENTWISE(atanh, (vector_unary<Atanh, float>() + unary<Atanh, double>() + in_double<complex_math::Atanh>()))
ELEMENTWISE(atan2, (vector_binary<Atan2, float>() + binary<Atan2, double>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
