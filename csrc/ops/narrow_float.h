// The floating-point dtypes that C++ has no type for, as bits: float16, bfloat16, float8_e4m3fn, float8_e5m2.
#pragma once

#include "ops/dtype.h"

namespace ferrule {

// The bits of the number that is nearest to `value`, of two the even one. Rounds once; too large is infinite, or NaN of
// float8_e4m3fn, which has no infinity; NaN stays.
uint16_t narrow_float_from(double value, DType dtype);
// Also where the integer is not exact as a double.
uint16_t narrow_float_from(int64_t value, DType dtype);

}  // namespace ferrule
