// The functions that are the same for all floating-point types. Included once for each type: FLOATING is the type,
// OF(less) the name of its less.
#include "comparison/floating.glsl"
#include "selection/floating.glsl"
#include "activation/floating.glsl"
#include "arithmetic/floating.glsl"
