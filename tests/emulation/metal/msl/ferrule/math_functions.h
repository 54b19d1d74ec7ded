// Metal Shading Language Specification, "Math Functions" and "Common Functions", as far as kernels use them. Functions
// of half compute in float and round once. MSL has none of bfloat.
#pragma once

namespace metal {

#define FERRULE_UNARY(name, function)                        \
  bfloat name(bfloat) = delete;                              \
  ferrule_inline float name(float x) { return function(x); } \
  ferrule_inline half name(half x) { return static_cast<half>(function(static_cast<float>(x))); }
#define FERRULE_BINARY(name, function)                                                \
  bfloat name(bfloat, bfloat) = delete;                                               \
  ferrule_inline float name(float x, float y) { return function(x, y); }              \
  ferrule_inline half name(half x, half y) {                                          \
    return static_cast<half>(function(static_cast<float>(x), static_cast<float>(y))); \
  }
FERRULE_UNARY(fabs, __builtin_fabsf)
FERRULE_UNARY(floor, __builtin_floorf)
FERRULE_UNARY(sqrt, __builtin_sqrtf)
FERRULE_BINARY(min, __builtin_fminf)
FERRULE_BINARY(max, __builtin_fmaxf)
#undef FERRULE_UNARY
#undef FERRULE_BINARY

ferrule_inline float clamp(float x, float least, float most) { return min(max(x, least), most); }
ferrule_inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

}  // namespace metal
