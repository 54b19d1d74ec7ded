// The distinct elements of an array; how many there are is known only after they are computed.
//
// They are sorted, complex numbers by their real parts and then by their imaginary parts. Zeros of both signs are
// equal, NaN equals nothing and comes last, and the first of equal elements stands for them. With `size` there are so
// many elements: the least ones, or zeros behind the last.
#include "ops/rules.h"

namespace ferrule::ops {
namespace {

// The number of elements along axis 0 of the outputs that have one for each distinct element.
int64_t distinct_size(Inference& i) {
  const Shape& shape = i.input(0).shape;
  if (shape.rank() != 1) i.fail("x has 1 dimension, not {}: {}", shape.rank(), i.call());
  const int64_t size = i.attribute().integer("size");
  if (size < -1) i.fail("size is {}", size);
  return size == -1 ? shape[0] : size;
}

int64_t first_axis(const AttributeReader&) { return 0; }

}  // namespace

OP(unique_values)
    .doc("The distinct elements of x, sorted, and how many there are.")
    .by_hand()
    .host()
    .input("x", any)
    .bounded(first_axis)
    .results(
        [](Inference& i) {
          i.output({i.input(0).dtype, {distinct_size(i)}});
          i.output({DType::int64, {}});
        },
        "values", "count");

OP(unique_counts)
    .doc("The distinct elements of x, sorted, how often each occurs, and how many there are.")
    .by_hand()
    .host()
    .input("x", any)
    .bounded(first_axis, 2)
    .results(
        [](Inference& i) {
          const int64_t size = distinct_size(i);
          i.output({i.input(0).dtype, {size}});
          i.output({DType::int64, {size}});
          i.output({DType::int64, {}});
        },
        "values", "counts", "count");

OP(unique_inverse)
    .doc("The distinct elements of x, sorted, the place of each element of x among them, and how many there are.")
    .by_hand()
    .host()
    .input("x", any)
    .bounded(first_axis)
    .results(
        [](Inference& i) {
          i.output({i.input(0).dtype, {distinct_size(i)}});
          i.output({DType::int64, i.input(0).shape});
          i.output({DType::int64, {}});
        },
        "values", "inverse_indices", "count");

OP(unique_all)
    .doc(
        "The distinct elements of x, sorted, the index of the first of each, how often each occurs, the place of each "
        "element of x among them, and how many there are.")
    .by_hand()
    .host()
    .input("x", any)
    .bounded(first_axis, 3)
    .results(
        [](Inference& i) {
          const int64_t size = distinct_size(i);
          i.output({i.input(0).dtype, {size}});
          i.output({DType::int64, {size}});
          i.output({DType::int64, {size}});
          i.output({DType::int64, i.input(0).shape});
          i.output({DType::int64, {}});
        },
        "values", "indices", "counts", "inverse_indices", "count");

}  // namespace ferrule::ops
