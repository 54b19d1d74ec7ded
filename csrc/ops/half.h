// float16 and bfloat16 as bits.
#pragma once

#include "ops/dtype.h"

namespace ferrule {

// The bits of the half that is nearest to `value`, of two the even one. Rounds once; too large is infinite, NaN stays.
uint16_t half_from(double value, DType half);
// Also where the integer is not exact as a double.
uint16_t half_from(int64_t value, DType half);

}  // namespace ferrule
