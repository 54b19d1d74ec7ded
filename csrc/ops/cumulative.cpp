// Sums and products of all elements up to each one.
#include "ops/rules.h"

namespace ferrule::ops {
namespace {

void accumulated(Inference& i) {
  TensorType type = i.input(0);
  type.dtype = widened(type.dtype);
  const int axis = i.axis("axis", type.shape.rank());
  if (i.attribute().boolean("include_initial")) {
    if (type.shape[axis] == INT64_MAX) i.fail("axis {} of the result is larger than memory can be", axis);
    ++type.shape[axis];
  }
  i.output(type);
}

}  // namespace

OP(cumulative_sum)
    .doc(
        "The sums of the elements up to each one along an axis; integers in 64 bits. With `include_initial`, 0 comes "
        "first.")
    .by_hand()
    .host()
    .widened("x", boolean_or_numeric)
    .integer_attribute("axis", -1)
    .boolean_attribute("include_initial", false)
    .result(accumulated);

OP(cumulative_prod)
    .doc(
        "The products of the elements up to each one along an axis; integers in 64 bits. With `include_initial`, 1 "
        "comes first.")
    .by_hand()
    .host()
    .widened("x", boolean_or_numeric)
    .integer_attribute("axis", -1)
    .boolean_attribute("include_initial", false)
    .result(accumulated);

}  // namespace ferrule::ops
