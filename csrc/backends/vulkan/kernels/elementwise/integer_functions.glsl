// The functions of one integer type. Included once for each type: INTEGER is the type, OF(add) the name of its add.
// Dtypes of 8 and 16 bits are computed in 32 bits, and then wrapped or saturated.
#include "arithmetic/integer.glsl"
#include "rounding/integer.glsl"
#include "exponential/integer.glsl"
#include "bitwise/integer.glsl"
#include "comparison/integer.glsl"
#include "selection/integer.glsl"
#include "activation/integer.glsl"
