// Logic on bool, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(logical_not).doc("not x.").by_hand().elementwise().input("x", boolean).result(same_shape_and_dtype);

OP(logical_and)
    .doc("x1 and x2.")
    .by_hand()
    .elementwise()
    .promoted("x1", boolean)
    .promoted("x2", boolean)
    .result(broadcast_promoted);

OP(logical_or)
    .doc("x1 or x2.")
    .by_hand()
    .elementwise()
    .promoted("x1", boolean)
    .promoted("x2", boolean)
    .result(broadcast_promoted);

OP(logical_xor)
    .doc("Whether exactly one of x1 and x2 holds.")
    .by_hand()
    .elementwise()
    .promoted("x1", boolean)
    .promoted("x2", boolean)
    .result(broadcast_promoted);

}  // namespace ferrule::ops
