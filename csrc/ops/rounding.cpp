// Rounding to integers, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(floor)
    .doc("The greatest integer not above x.")
    .example(
        ">>> fe.floor(fe.asarray([-1.5, 1.5])).tolist()\n"
        "[-2.0, 1.0]")
    .elementwise()
    .input("x", real_numeric)
    .result(same_shape_and_dtype);

OP(ceil)
    .doc("The least integer not below x.")
    .example(
        ">>> fe.ceil(fe.asarray([-1.5, 1.5])).tolist()\n"
        "[-1.0, 2.0]")
    .elementwise()
    .input("x", real_numeric)
    .result(same_shape_and_dtype);

OP(trunc)
    .doc("The integer nearest to x towards zero.")
    .example(
        ">>> fe.trunc(fe.asarray([-1.5, 1.5])).tolist()\n"
        "[-1.0, 1.0]")
    .elementwise()
    .input("x", real_numeric)
    .result(same_shape_and_dtype);

OP(round)
    .doc("The integer nearest to x, ties to even.")
    .by_hand()
    .elementwise()
    .input("x", numeric)
    .result(same_shape_and_dtype);

}  // namespace ferrule::ops
