// Selection of elements by a condition or by comparison; elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(where)
    .doc("x1 where the condition holds, else x2.")
    .by_hand()
    .elementwise()
    .input("condition", boolean)
    .promoted("x1", any)
    .promoted("x2", any)
    .result(broadcast_promoted);

OP(clip)
    .doc("x limited to [minimum, maximum].")
    .by_hand()
    .elementwise()
    .promoted("x", real_numeric)
    .promoted("minimum", real_numeric)
    .promoted("maximum", real_numeric)
    .result(broadcast_promoted)
    .decompose([](Builder& b, Value x, Value minimum, Value maximum) {
      return b.minimum(b.maximum(x, minimum), maximum);
    });

OP(maximum)
    .doc("The greater of x1 and x2; NaN if either is NaN.")
    .example(
        ">>> fe.maximum(fe.asarray([1, 5]), 3).tolist()\n"
        "[3, 5]")
    .elementwise()
    .promoted("x1", real)
    .promoted("x2", real)
    .result(broadcast_promoted);

OP(minimum)
    .doc("The lesser of x1 and x2; NaN if either is NaN.")
    .example(
        ">>> fe.minimum(fe.asarray([1, 5]), 3).tolist()\n"
        "[1, 3]")
    .elementwise()
    .promoted("x1", real)
    .promoted("x2", real)
    .result(broadcast_promoted);

}  // namespace ferrule::ops
