// Trigonometric and hyperbolic functions, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(sin)
    .doc("Sine of x, in radians.")
    .example(
        ">>> fe.sin(fe.asarray([0.0])).tolist()\n"
        "[0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(cos)
    .doc("Cosine of x, in radians.")
    .example(
        ">>> fe.cos(fe.asarray([0.0])).tolist()\n"
        "[1.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(tan)
    .doc("Tangent of x, in radians.")
    .example(
        ">>> fe.tan(fe.asarray([0.0])).tolist()\n"
        "[0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(asin)
    .doc("Arc sine of x, from -pi/2 to pi/2; NaN outside of [-1, 1].")
    .example(
        ">>> fe.asin(fe.asarray([0.0])).tolist()\n"
        "[0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(acos)
    .doc("Arc cosine of x, from 0 to pi; NaN outside of [-1, 1].")
    .example(
        ">>> fe.acos(fe.asarray([1.0])).tolist()\n"
        "[0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(atan)
    .doc("Arc tangent of x, from -pi/2 to pi/2.")
    .example(
        ">>> fe.atan(fe.asarray([0.0])).tolist()\n"
        "[0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(atan2)
    .doc("The angle of the point (x2, x1), from -pi to pi: arc tangent of x1 / x2 in its quadrant.")
    .example(
        ">>> fe.atan2(fe.asarray([0.0, 1.0]), fe.asarray([1.0, fe.inf])).tolist()\n"
        "[0.0, 0.0]")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(sinh)
    .doc("Hyperbolic sine of x.")
    .example(
        ">>> fe.sinh(fe.asarray([0.0])).tolist()\n"
        "[0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(cosh)
    .doc("Hyperbolic cosine of x.")
    .example(
        ">>> fe.cosh(fe.asarray([0.0])).tolist()\n"
        "[1.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(tanh)
    .doc("Hyperbolic tangent of x.")
    .example(
        ">>> fe.tanh(fe.asarray([0.0, fe.inf])).tolist()\n"
        "[0.0, 1.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(asinh)
    .doc("Inverse hyperbolic sine of x.")
    .example(
        ">>> fe.asinh(fe.asarray([0.0])).tolist()\n"
        "[0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(acosh)
    .doc("Inverse hyperbolic cosine of x; NaN below 1.")
    .example(
        ">>> fe.acosh(fe.asarray([1.0])).tolist()\n"
        "[0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(atanh)
    .doc("Inverse hyperbolic tangent of x; NaN outside of [-1, 1].")
    .example(
        ">>> fe.atanh(fe.asarray([0.0, 1.0])).tolist()\n"
        "[0.0, inf]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

}  // namespace ferrule::ops
