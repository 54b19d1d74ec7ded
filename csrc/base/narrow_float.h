// Conversion to floating dtypes without a C++ type, as bits: float16, bfloat16, float8_e4m3fn, float8_e5m2.
#pragma once

#include "base/dtype.h"

namespace ferrule {

// The bits of the nearest number; ties to even, rounded once. An overflow becomes infinity, or NaN in float8_e4m3fn,
// which has no infinity. NaN stays NaN.
uint16_t narrow_float_from(double value, DType dtype);
// The same for an integer, also if it is not exact as a double.
uint16_t narrow_float_from(int64_t value, DType dtype);

}  // namespace ferrule
