// The parts of complex numbers, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(real).doc("The real part of x.").by_hand().elementwise().input("x", complex).result(same_shape_real_dtype);

OP(imag).doc("The imaginary part of x.").by_hand().elementwise().input("x", complex).result(same_shape_real_dtype);

OP(conj).doc("The complex conjugate of x.").by_hand().elementwise().input("x", complex).result(same_shape_and_dtype);

}  // namespace ferrule::ops
