// Functions that only elementwise.comp has. They are seldom fused to matrix products and reductions, and each of the
// shaders of these, about 34, would have all of them.
#include "arithmetic/hypot.glsl"
#include "arithmetic/nextafter.glsl"
#include "comparison/finite_integers.glsl"
#include "exponential/bases.glsl"
#include "exponential/logaddexp.glsl"
#include "trigonometric/hyperbolic.glsl"
#include "trigonometric/inverse.glsl"
#include "trigonometric/inverse_hyperbolic.glsl"
#include "trigonometric/tangent.glsl"
#include "error_function/erfc.glsl"
