// Arrays that are computed from attributes alone.
#include "ops/rules.h"

namespace ferrule::ops {

OP(iota)
    .doc("0, 1, 2, ... of the given size.")
    .attribute("size", AttributeType::integer)
    .attribute("dtype", AttributeType::dtype)
    .result([](Inference& i) {
      const DType dtype = i.attribute().dtype("dtype");
      const int64_t size = i.attribute().integer("size");
      if (dtype == DType::none || !accepts(numeric, dtype)) i.fail("needs a {} dtype", name_of(numeric));
      if (size < 0) i.fail("size {} is negative", size);
      i.output({dtype, Shape{size}});
    });

}  // namespace ferrule::ops
