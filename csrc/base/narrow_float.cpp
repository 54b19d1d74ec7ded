#include "base/narrow_float.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>

namespace ferrule {

uint16_t narrow_float_from(double value, DType dtype) {
  if (!is_half(dtype) && !is_float8(dtype))
    fail(FE_INTERNAL, "{} is not a narrow floating-point dtype", name_of(dtype));
  const sdk::FloatFormat& format = row_of(dtype).format;
  const int mantissa_bits = static_cast<int>(format.mantissa_bits), least_exponent = format.least_exponent();
  const auto nan = static_cast<unsigned>(format.nan());
  const unsigned too_large = format.has_infinity ? static_cast<unsigned>(format.infinity()) : nan;
  const unsigned sign = std::signbit(value) ? 1u << (8 * block_bytes(dtype) - 1) : 0;
  const double magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | nan);
  if (std::isinf(value)) return static_cast<uint16_t>(sign | too_large);
  const int exponent = magnitude == 0 ? least_exponent : std::max(std::ilogb(magnitude), least_exponent);
  // Units in the last place, rounded once. A carry out of the mantissa correctly increments the exponent.
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  const double bits = units + std::ldexp(exponent - least_exponent, mantissa_bits);
  return static_cast<uint16_t>(sign | std::min(static_cast<unsigned>(std::min(bits, 65535.0)), too_large));
}

uint16_t narrow_float_from(int64_t value, DType dtype) {
  constexpr int64_t exact = int64_t{1} << 53, lost = 0x7ff;
  // Rounds to a multiple of 2048, an odd one if bits were lost, so that the double rounds to the same result as the
  // integer.
  if (value > exact || value < -exact) value = (value & ~lost) | ((value & lost) != 0 ? lost + 1 : 0);
  return narrow_float_from(static_cast<double>(value), dtype);
}

}  // namespace ferrule
