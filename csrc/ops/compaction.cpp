// Ops that keep, or replace, the elements that a condition chooses; how many is known only after they are computed.
#include "ops/rules.h"

namespace ferrule::ops {
namespace {

// The attribute `size`, or the bound if it is not given (-1).
int64_t size_or(Inference& i, int64_t bound) {
  const int64_t size = i.attribute().integer("size");
  if (size < -1) i.fail("size is {}", size);
  return size == -1 ? bound : size;
}

}  // namespace

OP(nonzero)
    .doc(
        "The indices of the elements of x that are not zero, one row each, in the order in which they lie, and how "
        "many there are. With `size` so many rows: the first ones, or zeros behind the last.")
    .by_hand()
    .host()
    .input("x", any)
    .bounded([](const AttributeReader&) -> int64_t { return 0; })
    .results(
        [](Inference& i) {
          const Shape& shape = i.input(0).shape;
          if (shape.rank() == 0) i.fail("{} has no axis", i.call());
          i.output({DType::int64, {size_or(i, element_count(shape)), shape.rank()}});
          i.output({DType::int64, {}});
        },
        "indices", "count");

OP(compress)
    .doc(
        "The slices of x along an axis for which the condition holds, and how many there are. With `size` so many "
        "slices: the first ones, or zeros behind the last.")
    .by_hand()
    .host()
    .input("x", any)
    .input("condition", boolean)
    .integer_attribute("axis", 0)
    .bounded([](const AttributeReader& attribute) { return attribute.integer("axis"); })
    .results(
        [](Inference& i) {
          Shape shape = i.input(0).shape;
          const Shape& condition = i.input(1).shape;
          const int axis = i.axis("axis", shape.rank());
          if (condition.rank() != 1 || condition[0] != shape[axis])
            i.fail("the condition has one bool for each of the {} slices along axis {}: {}", shape[axis], axis,
                   i.call());
          shape[axis] = size_or(i, shape[axis]);
          i.output({i.input(0).dtype, shape});
          i.output({DType::int64, {}});
        },
        "slices", "count");

OP(masked_scatter)
    .doc(
        "x with the elements for which the mask holds replaced by `values`, in their order. A mask of fewer dimensions "
        "chooses slices. There must be as many values as it chooses. If x has no other reader, only these are written.")
    .by_hand()
    .host()
    .input("x", any)
    .input("mask", boolean)
    .input("values", any)
    .result([](Inference& i) {
      const TensorType &x = i.input(0), &values = i.input(2);
      const Shape& mask = i.input(1).shape;
      if (values.dtype != x.dtype) i.fail("x and values have two dtypes: {}", i.call());
      bool fits = mask.rank() > 0 && mask.rank() <= x.shape.rank();
      for (int axis = 0; fits && axis < mask.rank(); ++axis) fits = mask[axis] == x.shape[axis];
      if (!fits) i.fail("the mask has the first sizes of x: {}", i.call());
      fits = values.shape.rank() == x.shape.rank() - mask.rank() + 1;
      for (int axis = 1; fits && axis < values.shape.rank(); ++axis)
        fits = values.shape[axis] == x.shape[mask.rank() + axis - 1];
      if (!fits) i.fail("values are a list of slices that the mask chooses: {}", i.call());
      i.output(x);
    });

}  // namespace ferrule::ops
