// Rounding to integers, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(floor).doc("The greatest integer not above x.").elementwise().input("x", real_numeric).result(same_shape_and_dtype);

OP(ceil).doc("The least integer not below x.").elementwise().input("x", real_numeric).result(same_shape_and_dtype);

OP(trunc)
    .doc("The integer nearest to x towards zero.")
    .elementwise()
    .input("x", real_numeric)
    .result(same_shape_and_dtype);

OP(round).doc("The integer nearest to x, ties to even.").elementwise().input("x", numeric).result(same_shape_and_dtype);

}  // namespace ferrule::ops
