#include "base/narrow_float.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>

namespace ferrule {
namespace {

struct Format {
  int mantissa_bits;
  int least_exponent;  // of a normal number
  unsigned too_large;  // the bit pattern after that of the greatest number
  unsigned nan;
  unsigned sign;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return {10, -14, 0x7c00, 0x7e00, 0x8000};
    case DType::bfloat16:
      return {7, -126, 0x7f80, 0x7fc0, 0x8000};
    case DType::float8_e4m3fn:
      return {3, -6, 0x7f, 0x7f, 0x80};
    case DType::float8_e5m2:
      return {2, -14, 0x7c, 0x7e, 0x80};
    default:
      fail(FE_INTERNAL, "{} is not a narrow floating-point dtype", name_of(dtype));
  }
}

}  // namespace

uint16_t narrow_float_from(double value, DType dtype) {
  const Format format = format_of(dtype);
  const unsigned sign = std::signbit(value) ? format.sign : 0;
  const double magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | format.nan);
  if (std::isinf(value)) return static_cast<uint16_t>(sign | format.too_large);
  const int exponent = magnitude == 0 ? format.least_exponent : std::max(std::ilogb(magnitude), format.least_exponent);
  // Units in the last place, rounded once. A carry out of the mantissa correctly increments the exponent.
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const double bits = units + std::ldexp(exponent - format.least_exponent, format.mantissa_bits);
  return static_cast<uint16_t>(sign | std::min(static_cast<unsigned>(std::min(bits, 65535.0)), format.too_large));
}

uint16_t narrow_float_from(int64_t value, DType dtype) {
  constexpr int64_t exact = int64_t{1} << 53, lost = 0x7ff;
  // Rounds to a multiple of 2048, an odd one if bits were lost, so that the double rounds to the same result as the
  // integer.
  if (value > exact || value < -exact) value = (value & ~lost) | ((value & lost) != 0 ? lost + 1 : 0);
  return narrow_float_from(static_cast<double>(value), dtype);
}

}  // namespace ferrule
