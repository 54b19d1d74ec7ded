// Exponentials, logarithms and roots, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(exp)
    .doc("e to the power x.")
    .example(
        ">>> fe.exp(fe.asarray([0.0, -fe.inf])).tolist()\n"
        "[1.0, 0.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(exp2)
    .doc("2 to the power x.")
    .example(
        ">>> fe.exp2(fe.asarray([3.0, -1.0])).tolist()\n"
        "[8.0, 0.5]")
    .elementwise()
    .input("x", real_floating)
    .result(same_shape_and_dtype);

OP(expm1)
    .doc("exp(x) - 1, exact near zero.")
    .example(
        ">>> fe.expm1(fe.asarray([0.0, -fe.inf])).tolist()\n"
        "[0.0, -1.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(log)
    .doc("Natural logarithm of x.")
    .example(
        ">>> fe.log(fe.asarray([1.0, 0.0])).tolist()\n"
        "[0.0, -inf]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(log2)
    .doc("Logarithm of x to base 2.")
    .example(
        ">>> fe.log2(fe.asarray([8.0, 0.5])).tolist()\n"
        "[3.0, -1.0]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(log10)
    .doc("Logarithm of x to base 10.")
    .example(
        ">>> fe.log10(fe.asarray([1000.0, 0.0])).tolist()\n"
        "[3.0, -inf]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(log1p)
    .doc("log(1 + x), exact near zero.")
    .example(
        ">>> fe.log1p(fe.asarray([0.0, -1.0])).tolist()\n"
        "[0.0, -inf]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(logaddexp)
    .doc("log(exp(x1) + exp(x2)), without overflow.")
    .example(
        ">>> fe.logaddexp(fe.asarray([1000.0]), -fe.inf).tolist()\n"
        "[1000.0]")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(sqrt)
    .doc("Square root of x, correctly rounded.")
    .example(
        ">>> fe.sqrt(fe.asarray([9.0, 0.25])).tolist()\n"
        "[3.0, 0.5]\n"
        ">>> fe.sqrt(fe.asarray([-4 + 0j])).tolist()\n"
        "[2j]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype);

OP(rsqrt)
    .doc("1 / sqrt(x).")
    .example(
        ">>> fe.rsqrt(fe.asarray([4.0, fe.inf])).tolist()\n"
        "[0.5, 0.0]")
    .elementwise()
    .input("x", real_floating)
    .result(same_shape_and_dtype);

OP(pow)
    .doc("x1 to the power x2; integers wrap, and a negative power of integers is an error.")
    .example(
        ">>> fe.pow(fe.asarray([2, 3]), 2).tolist()\n"
        "[4, 9]\n"
        ">>> fe.pow(fe.asarray([4.0]), 0.5).tolist()\n"
        "[2.0]")
    .elementwise()
    .raises("An integer is raised to a negative power.")
    .promoted("x1", numeric)
    .promoted("x2", numeric)
    .result(broadcast_promoted);

}  // namespace ferrule::ops
