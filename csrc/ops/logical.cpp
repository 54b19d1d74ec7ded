// Logic on truth values, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(logical_not)
    .doc("Whether x is not true.")
    .example(
        ">>> fe.logical_not(fe.asarray([0, 1, 2])).tolist()\n"
        "[True, False, False]")
    .elementwise()
    .truth("x")
    .result(same_shape_and_dtype);

OP(logical_and)
    .doc("Whether both x1 and x2 are true.")
    .example(
        ">>> fe.logical_and(fe.asarray([0, 1, 2]), fe.asarray([True, False, True])).tolist()\n"
        "[False, False, True]")
    .elementwise()
    .truth("x1")
    .truth("x2")
    .result(broadcast_to_bool);

OP(logical_or)
    .doc("Whether x1 or x2 or both are true.")
    .example(
        ">>> fe.logical_or(fe.asarray([0.0, 0.5]), False).tolist()\n"
        "[False, True]")
    .elementwise()
    .truth("x1")
    .truth("x2")
    .result(broadcast_to_bool);

OP(logical_xor)
    .doc("Whether exactly one of x1 and x2 is true.")
    .example(
        ">>> fe.logical_xor(fe.asarray([0, 1, 2]), True).tolist()\n"
        "[True, False, False]")
    .elementwise()
    .truth("x1")
    .truth("x2")
    .result(broadcast_to_bool);

}  // namespace ferrule::ops
