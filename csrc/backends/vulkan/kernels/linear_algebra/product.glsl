// The type in which a matrix product is added up: float32 for halves, 32 bits for narrow integers, whose sum wraps in
// any order. To finish an element, a shader sets `element` and `result` and calls `spliced`, an epilogue of
// graphs/elementwise_body.h.
#include "../elementwise/functions.glsl"

#if defined VARIANT_f32 || defined VARIANT_f16 || defined VARIANT_bf16
#include "../float_item.glsl"
#define Value float
#define VALUE_BYTES 4
Value value_at(uint64_t address) { return float_at(address); }
#else
#ifdef VARIANT_f64
#define Item RefF64
#define ITEM_BYTES 8
#define Value double
#define VALUE_BYTES 8
#else
#include "../item.glsl"
#define Value Wide
#define VALUE_BYTES WIDE_BYTES
#endif
Value value_at(uint64_t address) { return Value(Item(address).at); }
#endif
#include "../partial_values.glsl"

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
