// Arithmetic, elementwise. Integers wrap.
#include "ops/rules.h"

namespace ferrule::ops {

OP(negative)
    .doc("-x.")
    .example(
        ">>> fe.negative(fe.asarray([1, -2])).tolist()\n"
        "[-1, 2]")
    .elementwise()
    .input("x", numeric)
    .result(same_shape_and_dtype);

OP(abs)
    .doc("Absolute value of x: the magnitude of a complex number, which is real.")
    .example(
        ">>> fe.abs(fe.asarray([-1.5, 2.0])).tolist()\n"
        "[1.5, 2.0]\n"
        ">>> fe.abs(fe.asarray([3 + 4j])).tolist()\n"
        "[5.0]")
    .elementwise()
    .input("x", numeric)
    .result(same_shape_real_dtype);

OP(sign)
    .doc("-1, 0 or 1 by the sign of x; x / abs(x) of a complex number, 0 of zero; NaN stays NaN.")
    .example(
        ">>> fe.sign(fe.asarray([-1.5, 0.0, 2.0])).tolist()\n"
        "[-1.0, 0.0, 1.0]\n"
        ">>> fe.sign(fe.asarray([2j])).tolist()\n"
        "[1j]")
    .elementwise()
    .input("x", numeric)
    .result(same_shape_and_dtype);

OP(add)
    .doc("x1 + x2.")
    .example(
        ">>> fe.add(fe.asarray([1, 2]), fe.asarray([[10], [20]])).tolist()\n"
        "[[11, 12], [21, 22]]")
    .elementwise()
    .promoted("x1", numeric)
    .promoted("x2", numeric)
    .result(broadcast_promoted);

OP(subtract)
    .doc("x1 - x2.")
    .example(
        ">>> fe.subtract(fe.asarray([5, 7]), 2).tolist()\n"
        "[3, 5]")
    .elementwise()
    .promoted("x1", numeric)
    .promoted("x2", numeric)
    .result(broadcast_promoted);

OP(multiply)
    .doc("x1 * x2.")
    .example(
        ">>> fe.multiply(fe.asarray([1, 2]), fe.asarray([3.5, 4.0])).tolist()\n"
        "[3.5, 8.0]")
    .elementwise()
    .promoted("x1", numeric)
    .promoted("x2", numeric)
    .result(broadcast_promoted);

OP(divide)
    .doc("x1 / x2. Nonzero numbers divided by zero are infinite, zero by zero is NaN.")
    .example(
        ">>> fe.divide(fe.asarray([1, 2, 3]), 2).tolist()\n"
        "[0.5, 1.0, 1.5]")
    .elementwise()
    .integers_in_default_dtype()
    .promoted("x1", floating)
    .promoted("x2", floating)
    .result(broadcast_promoted);

OP(floor_divide)
    .doc("floor(x1 / x2); an integer divided by zero gives 0.")
    .example(
        ">>> fe.floor_divide(fe.asarray([7, -7]), 2).tolist()\n"
        "[3, -4]")
    .elementwise()
    .promoted("x1", real_numeric)
    .promoted("x2", real_numeric)
    .result(broadcast_promoted);

OP(remainder)
    .doc("x1 - floor_divide(x1, x2) * x2, with the sign of x2; integers modulo zero give 0.")
    .example(
        ">>> fe.remainder(fe.asarray([7, -7]), 3).tolist()\n"
        "[1, 2]")
    .elementwise()
    .promoted("x1", real_numeric)
    .promoted("x2", real_numeric)
    .result(broadcast_promoted);

OP(fmod)
    .doc("The rest of x1 / x2 with the sign of x1, exactly; NaN where x2 is 0.")
    .by_hand()
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(positive)
    .doc("x.")
    .example(
        ">>> fe.positive(fe.asarray([1, -2])).tolist()\n"
        "[1, -2]")
    .elementwise()
    .input("x", numeric)
    .result(same_shape_and_dtype);

OP(copysign)
    .doc("The magnitude of x1 with the sign of x2.")
    .example(
        ">>> fe.copysign(fe.asarray([1.0, -2.0]), fe.asarray([-0.0, 3.0])).tolist()\n"
        "[-1.0, 2.0]")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(nextafter)
    .doc("The number next to x1 towards x2; x2 where they are equal.")
    .example(
        ">>> (fe.nextafter(fe.asarray([1.0], dtype=\"float64\"), 2.0) - 1).tolist()\n"
        "[2.220446049250313e-16]")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(frexp)
    .doc(
        "The mantissa m, from 0.5 up to 1 in magnitude, and the exponent e of x = m * 2^e. Zeros, infinities and NaN "
        "are "
        "their own mantissas, with the exponent 0.")
    .example(
        ">>> mantissa, exponent = fe.frexp(fe.asarray([6.0, -1.0]))\n"
        ">>> mantissa.tolist(), exponent.tolist()\n"
        "([0.75, -0.5], [3, 1])")
    .elementwise()
    .input("x", real_floating)
    .returns("`mantissa`, of the dtype of x, and `exponent`, of int32: arrays of the shape of x.")
    .results(
        [](Inference& i) {
          i.output(i.input(0));
          i.output({DType::int32, i.input(0).shape});
        },
        "mantissa", "exponent");

OP(hypot)
    .doc("sqrt(x1^2 + x2^2), without overflow in between.")
    .example(
        ">>> fe.hypot(fe.asarray([3.0, 5.0]), fe.asarray([4.0, 12.0])).tolist()\n"
        "[5.0, 13.0]")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(square)
    .doc("x * x.")
    .example(
        ">>> fe.square(fe.asarray([3, -4])).tolist()\n"
        "[9, 16]")
    .elementwise()
    .input("x", numeric)
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, Value x) { return b.multiply(x, x); });

OP(reciprocal)
    .doc("1 / x.")
    .example(
        ">>> fe.reciprocal(fe.asarray([2.0, 0.0])).tolist()\n"
        "[0.5, inf]")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, Value x) { return b.divide(b.scalar_like(1, x), x); });

}  // namespace ferrule::ops
