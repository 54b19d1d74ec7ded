// The error function and its complement, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(erf)
    .doc("The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.")
    .example(
        ">>> fe.erf(fe.asarray([0.0, fe.inf])).tolist()\n"
        "[0.0, 1.0]")
    .elementwise()
    .input("x", real_floating)
    .result(same_shape_and_dtype);

OP(erfc)
    .doc("1 - erf(x), exact where erf(x) is near 1.")
    .example(
        ">>> fe.erfc(fe.asarray([0.0, -fe.inf])).tolist()\n"
        "[1.0, 2.0]")
    .elementwise()
    .input("x", real_floating)
    .result(same_shape_and_dtype);

}  // namespace ferrule::ops
