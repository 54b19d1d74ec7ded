// Every function that a body may call: an op's name, that of its output if it has several, and what it is computed in
// (bool, i32, u32, i64, u64, f32, f64).

#define WHOLE int
#define OF(op) op##_i32
#include "whole.glsl"
#undef WHOLE
#undef OF
#define WHOLE uint
#define OF(op) op##_u32
#include "whole.glsl"
#undef WHOLE
#undef OF
#define WHOLE int64_t
#define OF(op) op##_i64
#include "whole.glsl"
#undef WHOLE
#undef OF
#define WHOLE uint64_t
#define OF(op) op##_u64
#include "whole.glsl"
#undef WHOLE
#undef OF
#include "narrow.glsl"
#include "logical.glsl"

#include "float_bits.glsl"
#include "halves.glsl"
#include "arithmetic.glsl"
#include "rounding.glsl"
#define FLOAT float
#define OF(op) op##_f32
#include "comparison.glsl"
#include "division.glsl"
#undef FLOAT
#undef OF
#include "pairs.glsl"
#include "exponential.glsl"
#include "power.glsl"
#include "trigonometric.glsl"
#include "activation.glsl"
#include "gelu.glsl"
#include "cast.glsl"

#ifdef VARIANT_f64
#include "double.glsl"
#define FLOAT double
#define OF(op) op##_f64
#include "comparison.glsl"
#include "division.glsl"
#undef FLOAT
#undef OF
#endif

#include "mantissa.glsl"
#include "access.glsl"
