// Comparisons, elementwise; the result is bool.
#include "ops/rules.h"

namespace ferrule::ops {

OP(equal)
    .doc("x1 == x2.")
    .example(
        ">>> fe.equal(fe.asarray([1, 2, 3]), 2).tolist()\n"
        "[False, True, False]")
    .elementwise()
    .promoted("x1", any)
    .promoted("x2", any)
    .result(broadcast_to_bool);

OP(not_equal)
    .doc("x1 != x2.")
    .example(
        ">>> fe.not_equal(fe.asarray([1, 2, 3]), 2).tolist()\n"
        "[True, False, True]")
    .elementwise()
    .promoted("x1", any)
    .promoted("x2", any)
    .result(broadcast_to_bool);

OP(less)
    .doc("x1 < x2.")
    .example(
        ">>> fe.less(fe.asarray([1, 2, 3]), 2).tolist()\n"
        "[True, False, False]")
    .elementwise()
    .promoted("x1", real)
    .promoted("x2", real)
    .result(broadcast_to_bool);

OP(less_equal)
    .doc("x1 <= x2.")
    .example(
        ">>> fe.less_equal(fe.asarray([1, 2, 3]), 2).tolist()\n"
        "[True, True, False]")
    .elementwise()
    .promoted("x1", real)
    .promoted("x2", real)
    .result(broadcast_to_bool);

OP(greater)
    .doc("x1 > x2.")
    .example(
        ">>> fe.greater(fe.asarray([1, 2, 3]), 2).tolist()\n"
        "[False, False, True]")
    .elementwise()
    .promoted("x1", real)
    .promoted("x2", real)
    .result(broadcast_to_bool);

OP(greater_equal)
    .doc("x1 >= x2.")
    .example(
        ">>> fe.greater_equal(fe.asarray([1, 2, 3]), 2).tolist()\n"
        "[False, True, True]")
    .elementwise()
    .promoted("x1", real)
    .promoted("x2", real)
    .result(broadcast_to_bool);

OP(signbit)
    .doc("Whether the sign of x is negative, also of -0 and NaN.")
    .example(
        ">>> fe.signbit(fe.asarray([-0.0, 0.0])).tolist()\n"
        "[True, False]")
    .elementwise()
    .input("x", real_floating)
    .result(broadcast_to_bool);

OP(isnan)
    .doc("Whether x is NaN.")
    .example(
        ">>> fe.isnan(fe.asarray([1.0, fe.inf, fe.nan])).tolist()\n"
        "[False, False, True]")
    .elementwise()
    .input("x", numeric)
    .result(broadcast_to_bool);

OP(isinf)
    .doc("Whether x is an infinity.")
    .example(
        ">>> fe.isinf(fe.asarray([1.0, fe.inf, fe.nan])).tolist()\n"
        "[False, True, False]")
    .elementwise()
    .input("x", numeric)
    .result(broadcast_to_bool);

OP(isfinite)
    .doc("Whether x is neither NaN nor an infinity.")
    .example(
        ">>> fe.isfinite(fe.asarray([1.0, fe.inf, fe.nan])).tolist()\n"
        "[True, False, False]")
    .elementwise()
    .input("x", numeric)
    .result(broadcast_to_bool);

}  // namespace ferrule::ops
