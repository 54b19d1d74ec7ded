// Conversion to floating dtypes without a C++ type, as bits: halves and float8.
#pragma once

#include "base/dtype.h"

namespace ferrule {

// The bits of the nearest number; ties to even, rounded once. An overflow becomes infinity, or NaN in a format without
// infinity. NaN stays NaN.
uint16_t narrow_float_from(double value, DType dtype);
// The bits of the number nearest to an integer, rounded once even if the integer is not exact as a double.
uint16_t narrow_float_from(int64_t value, DType dtype);

}  // namespace ferrule
