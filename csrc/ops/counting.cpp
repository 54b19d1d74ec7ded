// Counting and adding by integer keys.
#include "ops/rules.h"

namespace ferrule::ops {

OP(bincount)
    .doc(
        "The sum of the weights of each integer from 0 to size - 1 that occurs in x, floating-point ones added in "
        "their order in float64. Other integers do not count.")
    .by_hand()
    .host()
    .input("x", index)
    .promoted("weights", real_numeric)
    .attribute("size", AttributeType::integer)
    .result([](Inference& i) {
      const Shape& shape = i.input(0).shape;
      const int64_t size = i.attribute().integer("size");
      if (shape.rank() != 1) i.fail("x has one dimension: {}", i.call());
      if (i.input(1).shape != shape) i.fail("x and weights have one shape: {}", i.call());
      if (size < 0) i.fail("size {} is negative", size);
      i.output({i.input(1).dtype, Shape{size}});
    });

}  // namespace ferrule::ops
