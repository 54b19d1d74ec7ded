// The functions that any body may call; further_functions.glsl has those of elementwise.comp alone. The name of a
// function is that of the op, that of the output if there are several, and the type it computes in (bool, i32, u32,
// i64, u64, f32, f64), or a half-precision dtype (f16, bf16) if its results are not the rounded ones of f32. The
// functions of an op family F are in F.glsl or in the files of F/.

#define INTEGER int
#define INTEGER_BITS 32
#define OF(op) op##_i32
#include "integer_functions.glsl"
#undef INTEGER
#undef INTEGER_BITS
#undef OF
#define INTEGER uint
#define INTEGER_BITS 32
#define OF(op) op##_u32
#include "integer_functions.glsl"
#undef INTEGER
#undef INTEGER_BITS
#undef OF
#define INTEGER int64_t
#define INTEGER_BITS 64
#define OF(op) op##_i64
#include "integer_functions.glsl"
#undef INTEGER
#undef INTEGER_BITS
#undef OF
#define INTEGER uint64_t
#define INTEGER_BITS 64
#define OF(op) op##_u64
#include "integer_functions.glsl"
#undef INTEGER
#undef INTEGER_BITS
#undef OF
#include "narrow_integers.glsl"
#include "logical.glsl"
#include "bitwise/bool.glsl"
#include "comparison/bool.glsl"
#include "selection/bool.glsl"

#include "float_bits.glsl"
#include "half_precision.glsl"
#include "arithmetic/float32.glsl"
#include "rounding/float32.glsl"
#define FLOATING float
#define OF(op) op##_f32
#include "floating_functions.glsl"
#undef FLOATING
#undef OF
#include "float_pairs.glsl"
#include "exponential/float32.glsl"
#include "exponential/roots.glsl"
#include "exponential/power.glsl"
#include "trigonometric/float32.glsl"
#include "error_function/erf.glsl"
#include "activation/float32.glsl"
#include "conversion/integers_and_float32.glsl"

#ifdef VARIANT_f64
#include "float64_bits.glsl"
#include "arithmetic/float64.glsl"
#include "exponential/float64.glsl"
#include "rounding/float64.glsl"
#include "conversion/float64.glsl"
#define FLOATING double
#define OF(op) op##_f64
#include "floating_functions.glsl"
#undef FLOATING
#undef OF
#endif

#include "arithmetic/frexp.glsl"
#include "operand_access.glsl"
