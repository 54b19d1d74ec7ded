// Logic and shifts on the bits of integers, elementwise; bool counts as one bit.
#include "ops/rules.h"

namespace ferrule::ops {

OP(bitwise_invert)
    .doc("~x; logical not for bool.")
    .elementwise()
    .input("x", boolean_or_integer)
    .result(same_shape_and_dtype);

OP(bitwise_and)
    .doc("x1 & x2.")
    .elementwise()
    .promoted("x1", boolean_or_integer)
    .promoted("x2", boolean_or_integer)
    .result(broadcast_promoted);

OP(bitwise_or)
    .doc("x1 | x2.")
    .elementwise()
    .promoted("x1", boolean_or_integer)
    .promoted("x2", boolean_or_integer)
    .result(broadcast_promoted);

OP(bitwise_xor)
    .doc("x1 ^ x2.")
    .elementwise()
    .promoted("x1", boolean_or_integer)
    .promoted("x2", boolean_or_integer)
    .result(broadcast_promoted);

OP(bitwise_left_shift)
    .doc("x1 << x2: shifted by as many bits, zeros follow; a negative count, as one of at least the width, gives 0.")
    .elementwise()
    .promoted("x1", integer)
    .promoted("x2", integer)
    .result(broadcast_promoted);

OP(bitwise_right_shift)
    .doc(
        "x1 >> x2: shifted by as many bits, the sign is repeated; a negative count, as one of at least the width, "
        "gives 0, "
        "or -1 of a negative number.")
    .elementwise()
    .promoted("x1", integer)
    .promoted("x2", integer)
    .result(broadcast_promoted);

}  // namespace ferrule::ops
