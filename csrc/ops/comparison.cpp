// Comparisons, elementwise; the result is bool.
#include "ops/rules.h"

namespace ferrule::ops {

OP(equal).doc("x1 == x2.").elementwise().promoted("x1", any).promoted("x2", any).result(broadcast_to_bool);

OP(not_equal).doc("x1 != x2.").elementwise().promoted("x1", any).promoted("x2", any).result(broadcast_to_bool);

OP(less).doc("x1 < x2.").elementwise().promoted("x1", real).promoted("x2", real).result(broadcast_to_bool);

OP(less_equal).doc("x1 <= x2.").elementwise().promoted("x1", real).promoted("x2", real).result(broadcast_to_bool);

OP(greater).doc("x1 > x2.").elementwise().promoted("x1", real).promoted("x2", real).result(broadcast_to_bool);

OP(greater_equal).doc("x1 >= x2.").elementwise().promoted("x1", real).promoted("x2", real).result(broadcast_to_bool);

OP(signbit)
    .doc("Whether the sign of x is negative, also of -0 and NaN.")
    .elementwise()
    .input("x", real_floating)
    .result(broadcast_to_bool);

OP(isnan).doc("Whether x is NaN.").elementwise().input("x", numeric).result(broadcast_to_bool);

OP(isinf).doc("Whether x is an infinity.").elementwise().input("x", numeric).result(broadcast_to_bool);

OP(isfinite)
    .doc("Whether x is neither NaN nor an infinity.")
    .elementwise()
    .input("x", numeric)
    .result(broadcast_to_bool);

}  // namespace ferrule::ops
