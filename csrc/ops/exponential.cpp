// Exponentials, logarithms and roots, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(exp).doc("e to the power x.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(exp2).doc("2 to the power x.").elementwise().input("x", real_floating).result(same_shape_and_dtype);

OP(expm1).doc("exp(x) - 1, exact near zero.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(log).doc("Natural logarithm of x.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(log2).doc("Logarithm of x to base 2.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(log10).doc("Logarithm of x to base 10.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(log1p).doc("log(1 + x), exact near zero.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(logaddexp)
    .doc("log(exp(x1) + exp(x2)), without overflow.")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(sqrt).doc("Square root of x, correctly rounded.").elementwise().input("x", floating).result(same_shape_and_dtype);

OP(rsqrt).doc("1 / sqrt(x).").elementwise().input("x", real_floating).result(same_shape_and_dtype);

OP(pow)
    .doc("x1 to the power x2; integers wrap, and a negative power of integers is an error.")
    .elementwise()
    .promoted("x1", numeric)
    .promoted("x2", numeric)
    .result(broadcast_promoted);

}  // namespace ferrule::ops
