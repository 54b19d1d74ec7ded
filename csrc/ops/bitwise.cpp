// Logic and shifts on the bits of integers, elementwise; bool counts as one bit.
#include "ops/rules.h"

namespace ferrule::ops {

OP(bitwise_invert)
    .doc("~x; logical not for bool.")
    .example(
        ">>> fe.bitwise_invert(fe.asarray([0, 5])).tolist()\n"
        "[-1, -6]\n"
        ">>> fe.bitwise_invert(fe.asarray([True, False])).tolist()\n"
        "[False, True]")
    .elementwise()
    .input("x", boolean_or_integer)
    .result(same_shape_and_dtype);

OP(bitwise_and)
    .doc("x1 & x2.")
    .example(
        ">>> fe.bitwise_and(fe.asarray([12, 10]), 6).tolist()\n"
        "[4, 2]")
    .elementwise()
    .promoted("x1", boolean_or_integer)
    .promoted("x2", boolean_or_integer)
    .result(broadcast_promoted);

OP(bitwise_or)
    .doc("x1 | x2.")
    .example(
        ">>> fe.bitwise_or(fe.asarray([12, 10]), 6).tolist()\n"
        "[14, 14]")
    .elementwise()
    .promoted("x1", boolean_or_integer)
    .promoted("x2", boolean_or_integer)
    .result(broadcast_promoted);

OP(bitwise_xor)
    .doc("x1 ^ x2.")
    .example(
        ">>> fe.bitwise_xor(fe.asarray([12, 10]), 6).tolist()\n"
        "[10, 12]")
    .elementwise()
    .promoted("x1", boolean_or_integer)
    .promoted("x2", boolean_or_integer)
    .result(broadcast_promoted);

OP(bitwise_left_shift)
    .doc("x1 << x2, filled up with zeros. A negative count, as one of at least the width, gives 0.")
    .example(
        ">>> fe.bitwise_left_shift(fe.asarray([1, 3]), 2).tolist()\n"
        "[4, 12]")
    .elementwise()
    .promoted("x1", integer)
    .promoted("x2", integer)
    .result(broadcast_promoted);

OP(bitwise_right_shift)
    .doc(
        "x1 >> x2, filled up with the sign. A negative count, as one of at least the width, gives 0, or -1 of a "
        "negative number.")
    .example(
        ">>> fe.bitwise_right_shift(fe.asarray([8, -8]), 2).tolist()\n"
        "[2, -2]")
    .elementwise()
    .promoted("x1", integer)
    .promoted("x2", integer)
    .result(broadcast_promoted);

}  // namespace ferrule::ops
