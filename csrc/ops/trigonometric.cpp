// Trigonometric and hyperbolic functions, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(sin).doc("Sine of x, in radians.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(cos).doc("Cosine of x, in radians.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(tan).doc("Tangent of x, in radians.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(asin)
    .doc("Arc sine of x, from -pi/2 to pi/2; NaN outside of [-1, 1].")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(acos)
    .doc("Arc cosine of x, from 0 to pi; NaN outside of [-1, 1].")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(atan).doc("Arc tangent of x, from -pi/2 to pi/2.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(atan2)
    .doc("The angle of the point (x2, x1), from -pi to pi: arc tangent of x1 / x2 in its quadrant.")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(sinh).doc("Hyperbolic sine of x.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(cosh).doc("Hyperbolic cosine of x.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(tanh).doc("Hyperbolic tangent of x.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(asinh).doc("Inverse hyperbolic sine of x.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(acosh)
    .doc("Inverse hyperbolic cosine of x; NaN below 1.")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(atanh)
    .doc("Inverse hyperbolic tangent of x; NaN outside of [-1, 1].")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

}  // namespace ferrule::ops
