// Ops that order elements.
#include "ops/rules.h"

namespace ferrule::ops {

OP(topk)
    .doc(
        "The k greatest elements of x along an axis, or the k least, sorted, and their indices. Of equals the first "
        "comes first; NaN counts as greatest.")
    .input("x", real_numeric)
    .attribute("k", AttributeType::integer)
    .integer_attribute("axis", -1)
    .boolean_attribute("largest", true)
    .results(
        [](Inference& i) {
          Shape shape = i.input(0).shape;
          const int axis = i.axis("axis", shape.rank());
          const int64_t k = i.attribute().integer("k");
          if (k < 0 || k > shape[axis])
            i.fail("k is {}, of {} elements along axis {} of {}", k, shape[axis], axis, i.call());
          shape[axis] = k;
          i.output({i.input(0).dtype, shape});
          i.output({DType::int64, shape});
        },
        "values", "indices");

}  // namespace ferrule::ops
