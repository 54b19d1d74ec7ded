// Trigonometric and hyperbolic functions. Functions without vector code call the C library; float32 is computed in
// float64 and rounded once.
#include "complex_math.h"
#include "elementwise.h"
#include "vector_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Sin {
  template <class V>
  V operator()(Full<float> d, V x) const {
    return math::sin(d, x);
  }
};
struct Cos {
  template <class V>
  V operator()(Full<float> d, V x) const {
    return math::cos(d, x);
  }
};
struct Tanh {
  template <class V>
  V operator()(Full<float> d, V x) const {
    return math::tanh(d, x);
  }
};
struct DoubleSin {
  double operator()(double x) const { return ::sin(x); }
};
struct DoubleCos {
  double operator()(double x) const { return ::cos(x); }
};
struct DoubleTanh {
  double operator()(double x) const { return ::tanh(x); }
};
struct Atan2 {
  float operator()(float y, float x) const { return static_cast<float>(::atan2(double{y}, double{x})); }
  double operator()(double y, double x) const { return ::atan2(y, x); }
};
struct Tan {
  float operator()(float x) const { return static_cast<float>(::tan(double{x})); }
  double operator()(double x) const { return ::tan(x); }
};
struct Asin {
  float operator()(float x) const { return static_cast<float>(::asin(double{x})); }
  double operator()(double x) const { return ::asin(x); }
};
struct Acos {
  float operator()(float x) const { return static_cast<float>(::acos(double{x})); }
  double operator()(double x) const { return ::acos(x); }
};
struct Atan {
  float operator()(float x) const { return static_cast<float>(::atan(double{x})); }
  double operator()(double x) const { return ::atan(x); }
};
struct Sinh {
  float operator()(float x) const { return static_cast<float>(::sinh(double{x})); }
  double operator()(double x) const { return ::sinh(x); }
};
struct Cosh {
  float operator()(float x) const { return static_cast<float>(::cosh(double{x})); }
  double operator()(double x) const { return ::cosh(x); }
};
struct Asinh {
  float operator()(float x) const { return static_cast<float>(::asinh(double{x})); }
  double operator()(double x) const { return ::asinh(x); }
};
struct Acosh {
  float operator()(float x) const { return static_cast<float>(::acosh(double{x})); }
  double operator()(double x) const { return ::acosh(x); }
};
struct Atanh {
  float operator()(float x) const { return static_cast<float>(::atanh(double{x})); }
  double operator()(double x) const { return ::atanh(x); }
};

}  // namespace

ELEMENTWISE(sin, (vector_unary<Sin, float>() + unary<DoubleSin, double>() + in_double<complex_math::Sin>()))
ELEMENTWISE(cos, (vector_unary<Cos, float>() + unary<DoubleCos, double>() + in_double<complex_math::Cos>()))
ELEMENTWISE(tanh, (vector_unary<Tanh, float>() + unary<DoubleTanh, double>() + in_double<complex_math::Tanh>()))
ELEMENTWISE(tan, (unary<Tan, FERRULE_FLOATS>() + in_double<complex_math::Tan>()))
ELEMENTWISE(asin, (unary<Asin, FERRULE_FLOATS>() + in_double<complex_math::Asin>()))
ELEMENTWISE(acos, (unary<Acos, FERRULE_FLOATS>() + in_double<complex_math::Acos>()))
ELEMENTWISE(atan, (unary<Atan, FERRULE_FLOATS>() + in_double<complex_math::Atan>()))
ELEMENTWISE(sinh, (unary<Sinh, FERRULE_FLOATS>() + in_double<complex_math::Sinh>()))
ELEMENTWISE(cosh, (unary<Cosh, FERRULE_FLOATS>() + in_double<complex_math::Cosh>()))
ELEMENTWISE(asinh, (unary<Asinh, FERRULE_FLOATS>() + in_double<complex_math::Asinh>()))
ELEMENTWISE(acosh, (unary<Acosh, FERRULE_FLOATS>() + in_double<complex_math::Acosh>()))
ELEMENTWISE(atanh, (unary<Atanh, FERRULE_FLOATS>() + in_double<complex_math::Atanh>()))
ELEMENTWISE(atan2, (binary<Atan2, FERRULE_FLOATS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
