// The functions that are alike for all floating-point types. Included once for each: FLOATING is the type, OF(less) the
// name of its less.
#include "comparison/floating.glsl"
#include "selection/floating.glsl"
#include "activation/floating.glsl"
#include "arithmetic/floating.glsl"
