// Ops that order elements.
#include "ops/rules.h"

namespace ferrule::ops {
namespace {

void of_last_axis(Inference& i, DType result) {
  if (i.input(0).shape.rank() == 0) i.fail("{} has no axis", i.call());
  i.output({result, i.input(0).shape});
}

}  // namespace

OP(sort)
    .doc(
        "The elements of x sorted along the last axis. Equal elements keep their order, also zeros of both signs and "
        "with `descending`. NaN counts as greatest.")
    .by_hand()
    .host()
    .input("x", real)
    .boolean_attribute("descending", false)
    .result([](Inference& i) { of_last_axis(i, i.input(0).dtype); });

OP(argsort)
    .doc(
        "The indices that sort x along the last axis. Equal elements keep their order, also zeros of both signs and "
        "with `descending`. NaN counts as greatest.")
    .by_hand()
    .host()
    .input("x", real)
    .boolean_attribute("descending", false)
    .result([](Inference& i) { of_last_axis(i, DType::int64); });

OP(topk)
    .doc(
        "The k greatest elements of x along an axis, or the k least, sorted, and their indices. Equal elements are "
        "chosen and listed in the order of their indices; NaN counts as greatest.")
    .example(
        ">>> values, indices = fe.topk(fe.asarray([3, 1, 4, 1, 5]), 2)\n"
        ">>> values.tolist(), indices.tolist()\n"
        "([5, 4], [4, 2])")
    .input("x", real_numeric)
    .attribute("k", AttributeType::integer)
    .about("How many elements, at most those along the axis.")
    .integer_attribute("axis", -1)
    .about("The axis.")
    .boolean_attribute("largest", true)
    .about("False chooses the least elements.")
    .returns(
        "`values`, of the dtype of x, and `indices`, of int64: arrays of the shape of x with k elements along the "
        "axis.")
    .raises("k is negative or greater than the number of elements along the axis, or x has no such axis.")
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
