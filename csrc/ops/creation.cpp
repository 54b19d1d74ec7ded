// Arrays that are computed from attributes alone.
#include "ops/rules.h"

namespace ferrule::ops {

OP(iota)
    .doc("0, 1, 2, ... of the given size.")
    .by_hand()
    .attribute("size", AttributeType::integer)
    .attribute("dtype", AttributeType::dtype)
    .result([](Inference& i) {
      const DType dtype = i.attribute().dtype("dtype");
      const int64_t size = i.attribute().integer("size");
      if (dtype == DType::none || !accepts(real_numeric, dtype)) i.fail("needs a {} dtype", name_of(real_numeric));
      if (size < 0) i.fail("size {} is negative", size);
      i.output({dtype, Shape{size}});
    });

OP(arange)
    .doc(
        "start, start + step, start + 2 * step, ... of the given size; computed in float64 for floating-point numbers.")
    .by_hand()
    .host()
    .input("start", real_numeric)
    .input("step", real_numeric)
    .attribute("size", AttributeType::integer)
    .attribute("dtype", AttributeType::dtype)
    .result([](Inference& i) {
      const DType dtype = i.attribute().dtype("dtype");
      const int64_t size = i.attribute().integer("size");
      if (dtype == DType::none || !accepts(real_numeric, dtype)) i.fail("needs a {} dtype", name_of(real_numeric));
      if (size < 0) i.fail("size {} is negative", size);
      const DType wide = is_integer(dtype) ? DType::int64 : DType::float64;
      for (std::size_t k = 0; k < 2; ++k)
        if (i.input(k).dtype != wide || i.input(k).shape.rank() != 0)
          i.fail("start and step of {} are 0-d arrays of {}: {}", ferrule::name_of(dtype), ferrule::name_of(wide),
                 i.call());
      i.output({dtype, Shape{size}});
    });

}  // namespace ferrule::ops
