// Metal Shading Language Specification, "Math Functions" and "Common Functions": in metal, metal::precise and
// metal::fast.
#pragma once

namespace metal {

template <class T>
using ferrule_if_float_vector =
    enable_if_t<(__is_same(ferrule_element<T>, float) || __is_same(ferrule_element<T>, half)) &&
                    (ferrule_shape<T>::count > 1),
                int>;

constexpr constant ferrule_wide ferrule_pi = 3.14159265358979323846264338327950288;

// Rounded once: the float32 in between is rounded to odd, which the next rounding cannot mistake for a tie.
ferrule_inline half ferrule_half_of(ferrule_wide x) {
  const float near = static_cast<float>(x);
  if (static_cast<ferrule_wide>(near) == x || near != near) return static_cast<half>(near);
  uint bits = __builtin_bit_cast(uint, near);
  if (__builtin_fabs(static_cast<ferrule_wide>(near)) > __builtin_fabs(x)) --bits;
  return static_cast<half>(__builtin_bit_cast(float, bits | 1u));
}

// The mantissa, from 0.5 on and below 1, and the exponent.
ferrule_inline float ferrule_frexp(float x, thread int* exponent) {
  if (x == 0.0f || !__builtin_isfinite(x)) return x;
  uint bits = __builtin_bit_cast(uint, x);
  int more = 0;
  if ((bits >> 23 & 0xff) == 0) {  // subnormal
    bits = __builtin_bit_cast(uint, x * 0x1p24f);
    more = -24;
  }
  *exponent = static_cast<int>(bits >> 23 & 0xff) - 126 + more;
  return __builtin_bit_cast(float, (bits & 0x807fffffU) | 0x3f000000U);
}

#include <ferrule/math_functions.inc>

namespace fast {
#include <ferrule/math_functions.inc>
}  // namespace fast

// Whatever the mode of the text is: NaN, infinities and the sign of zero count.
namespace precise {
#pragma float_control(precise, on, push)
#include <ferrule/math_functions.inc>
#pragma float_control(pop)
}  // namespace precise

}  // namespace metal
