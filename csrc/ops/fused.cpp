// The op of fused nodes, which only the compiler makes.
#include "ops/rules.h"

namespace ferrule::ops {

OP(fused).doc("A straight line of elementwise ops computed in one pass: see fe_body in graph_view.h.").internal();

}  // namespace ferrule::ops
