// What a matrix product adds up in: float32 for halves, 32 bits for narrow integers, whose sum wraps in any order. And
// what becomes of an element: a shader sets `element` and `result`, and calls `spliced`, which is an epilogue of body.h.
#include "elementwise/functions.glsl"

#if defined VARIANT_f64
#define Value double
#define VALUE_BYTES 8
#define ITEM_BYTES 8
Value value_at(uint64_t address) { return RefF64(address).at; }
#elif defined VARIANT_u64
#define Value uint64_t
#define VALUE_BYTES 8
#define ITEM_BYTES 8
Value value_at(uint64_t address) { return RefU64(address).at; }
#elif defined VARIANT_u32
#define Value uint
#define VALUE_BYTES 4
#define ITEM_BYTES 4
Value value_at(uint64_t address) { return RefU32(address).at; }
#elif defined VARIANT_u16
#define Value uint
#define VALUE_BYTES 4
#define ITEM_BYTES 2
Value value_at(uint64_t address) { return Value(RefU16(address).at); }
#elif defined VARIANT_u8
#define Value uint
#define VALUE_BYTES 4
#define ITEM_BYTES 1
Value value_at(uint64_t address) { return Value(RefU8(address).at); }
#else
#include "float_item.glsl"
#define Value float
#define VALUE_BYTES 4
Value value_at(uint64_t address) { return float_at(address); }
#endif

Value result;
#if defined VARIANT_f64
double result_f64() { return result; }
#elif defined VARIANT_u64
uint64_t result_u64() { return result; }
int64_t result_i64() { return int64_t(result); }
#elif defined VARIANT_u32 || defined VARIANT_u16 || defined VARIANT_u8
uint result_u32() { return result; }
int result_i32() { return int(result); }
#else
float result_f32() { return result; }
#endif

#if VALUE_BYTES == 8
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Partial { Value at; };
#else
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Partial { Value at; };
#endif
