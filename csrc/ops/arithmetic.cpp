// Arithmetic, elementwise. Integers wrap.
#include "ops/rules.h"

namespace ferrule::ops {

OP(negative).doc("-x.").elementwise().input("x", numeric).result(same_shape_and_dtype);

OP(abs)
    .doc("Absolute value of x: the magnitude of a complex number, which is real.")
    .elementwise()
    .input("x", numeric)
    .result(same_shape_real_dtype);

OP(sign)
    .doc("-1, 0 or 1 by the sign of x; x / abs(x) of a complex number, 0 of zero; NaN stays NaN.")
    .elementwise()
    .input("x", numeric)
    .result(same_shape_and_dtype);

OP(add).doc("x1 + x2.").elementwise().promoted("x1", numeric).promoted("x2", numeric).result(broadcast_promoted);

OP(subtract).doc("x1 - x2.").elementwise().promoted("x1", numeric).promoted("x2", numeric).result(broadcast_promoted);

OP(multiply).doc("x1 * x2.").elementwise().promoted("x1", numeric).promoted("x2", numeric).result(broadcast_promoted);

OP(divide)
    .doc("x1 / x2, floating-point.")
    .elementwise()
    .promoted("x1", floating)
    .promoted("x2", floating)
    .result(broadcast_promoted);

OP(floor_divide)
    .doc("floor(x1 / x2); an integer divided by zero gives 0.")
    .elementwise()
    .promoted("x1", real_numeric)
    .promoted("x2", real_numeric)
    .result(broadcast_promoted);

OP(remainder)
    .doc("x1 - floor_divide(x1, x2) * x2, with the sign of x2; integers modulo zero give 0.")
    .elementwise()
    .promoted("x1", real_numeric)
    .promoted("x2", real_numeric)
    .result(broadcast_promoted);

OP(fmod)
    .doc("The rest of x1 / x2 with the sign of x1, exactly; NaN where x2 is 0.")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(positive).doc("x.").elementwise().input("x", numeric).result(same_shape_and_dtype);

OP(copysign)
    .doc("The magnitude of x1 with the sign of x2.")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(nextafter)
    .doc("The number next to x1 towards x2; x2 where they are equal.")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(frexp)
    .doc(
        "The mantissa m, from 0.5 up to 1 in magnitude, and the exponent e of x = m * 2^e. Zeros, infinities and NaN "
        "are "
        "their own mantissas, with the exponent 0.")
    .elementwise()
    .input("x", real_floating)
    .results(
        [](Inference& i) {
          i.output(i.input(0));
          i.output({DType::int32, i.input(0).shape});
        },
        "mantissa", "exponent");

OP(hypot)
    .doc("sqrt(x1^2 + x2^2), without overflow in between.")
    .elementwise()
    .promoted("x1", real_floating)
    .promoted("x2", real_floating)
    .result(broadcast_promoted);

OP(square)
    .doc("x * x.")
    .elementwise()
    .input("x", numeric)
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, Value x) { return b.multiply(x, x); });

OP(reciprocal)
    .doc("1 / x.")
    .elementwise()
    .input("x", floating)
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, Value x) { return b.divide(b.scalar_like(1, x), x); });

}  // namespace ferrule::ops
