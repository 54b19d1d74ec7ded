// Trigonometric functions and the error function, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(sin).doc("Sine of x, in radians.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(cos).doc("Cosine of x, in radians.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(tanh).doc("Hyperbolic tangent of x.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(erf)
    .doc("The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

}  // namespace ferrule::ops
