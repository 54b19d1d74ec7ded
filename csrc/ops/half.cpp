#include "ops/half.h"

#include <algorithm>
#include <cmath>

namespace ferrule {

uint16_t half_from(double value, DType half) {
  // float16: 5 bits of exponent, 10 of mantissa; bfloat16: 8 and 7.
  const int mantissa_bits = half == DType::float16 ? 10 : 7;
  const int least_exponent = half == DType::float16 ? -14 : -126;  // of a normal number
  const unsigned infinity = half == DType::float16 ? 0x7c00 : 0x7f80;
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | infinity | 1U << (mantissa_bits - 1));
  if (std::isinf(value)) return static_cast<uint16_t>(sign | infinity);
  const int exponent = magnitude == 0 ? least_exponent : std::max(std::ilogb(magnitude), least_exponent);
  // In units of the last place, exactly; a carry out of the mantissa is one into the exponent, as it should be.
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  const double bits = units + std::ldexp(exponent - least_exponent, mantissa_bits);
  return static_cast<uint16_t>(sign | std::min(static_cast<unsigned>(std::min(bits, 65535.0)), infinity));
}

uint16_t half_from(int64_t value, DType half) {
  constexpr int64_t exact = int64_t{1} << 53, lost = 0x7ff;
  // To a multiple of 2048, an odd one if anything was lost: a double then rounds as the integer would.
  if (value > exact || value < -exact) value = (value & ~lost) | ((value & lost) != 0 ? lost + 1 : 0);
  return half_from(static_cast<double>(value), half);
}

}  // namespace ferrule
