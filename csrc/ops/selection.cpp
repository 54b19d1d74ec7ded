// Choosing and casting, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {

OP(where)
    .doc("x1 where the condition holds, else x2.")
    .elementwise()
    .input("condition", boolean)
    .promoted("x1", any)
    .promoted("x2", any)
    .result(broadcast_promoted);

OP(astype)
    .doc(
        "x in another dtype. Floating-point to integer truncates and saturates, NaN gives 0; to bool: x != 0. A "
        "complex "
        "number is no real one: that is an error.")
    .elementwise()
    .input("x", any)
    .attribute("dtype", AttributeType::dtype)
    .result([](Inference& i) {
      const DType dtype = i.attribute().dtype("dtype");
      if (dtype == DType::none) i.fail("dtype is missing in {}", i.call());
      if (is_complex(i.input(0).dtype) && !is_complex(dtype) && dtype != DType::boolean)
        i.fail("{} has imaginary parts, which the dtype {} has not", to_string(i.input(0)), ferrule::name_of(dtype));
      i.output({dtype, i.input(0).shape});
    });

OP(clip)
    .doc("x limited to [minimum, maximum].")
    .elementwise()
    .promoted("x", numeric)
    .promoted("minimum", numeric)
    .promoted("maximum", numeric)
    .result(broadcast_promoted)
    .decompose([](Builder& b, Value x, Value minimum, Value maximum) {
      return b.minimum(b.maximum(x, minimum), maximum);
    });

}  // namespace ferrule::ops
