// Ops that find positions in sorted arrays.
#include "ops/rules.h"

namespace ferrule::ops {

OP(searchsorted)
    .doc(
        "The indices at which the elements of x2 have to be inserted into x1, which is sorted, so that it stays "
        "sorted: before equal elements ('left') or behind them ('right'). NaN counts as greatest.")
    .by_hand()
    .host()
    .promoted("x1", real)
    .promoted("x2", real)
    .choice_attribute("side", "left", "left|right")
    .result([](Inference& i) {
      if (i.input(0).shape.rank() != 1) i.fail("x1 has 1 dimension, not {}: {}", i.input(0).shape.rank(), i.call());
      i.output({DType::int64, i.input(1).shape});
    });

}  // namespace ferrule::ops
