// The parts of complex numbers.
#include "complex.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Real {
  template <class T>
  T operator()(Complex<T> z) const {
    return z.real;
  }
};
struct Imaginary {
  template <class T>
  T operator()(Complex<T> z) const {
    return z.imaginary;
  }
};
struct Conjugate {
  template <class T>
  Complex<T> operator()(Complex<T> z) const {
    return {z.real, -z.imaginary};
  }
};

}  // namespace

ELEMENTWISE(real, (unary_to_real<Real>()))
ELEMENTWISE(imag, (unary_to_real<Imaginary>()))
ELEMENTWISE(conj, (unary<Conjugate, FERRULE_COMPLEX>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
