// What a matrix product adds up in: float32 for halves, 32 bits for narrow integers, whose sum wraps in any order.
#if defined VARIANT_f32 || defined VARIANT_f16 || defined VARIANT_bf16
#include "float_item.glsl"
#define Value float
#define VALUE_BYTES 4
Value value_at(uint64_t address) { return float_at(address); }
void store(uint64_t address, Value value) { store_float(address, value); }
#else
#ifdef VARIANT_f64
#define Item RefF64
#define ITEM_BYTES 8
#define Narrow double
#define Value double
#define VALUE_BYTES 8
#else
#include "item.glsl"
#define Value Wide
#define VALUE_BYTES WIDE_BYTES
#endif
Value value_at(uint64_t address) { return Value(Item(address).at); }
void store(uint64_t address, Value value) { Item(address).at = Narrow(value); }
#endif
#include "partial.glsl"
