// What a matrix product adds up in: float32 for halves, 32 bits for narrow integers, whose sum wraps in any order.
#if defined VARIANT_f64
#define Value double
#define VALUE_BYTES 8
#define ITEM_BYTES 8
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer RefF64 { double at; };
Value value_at(uint64_t address) { return RefF64(address).at; }
void store(uint64_t address, Value value) { RefF64(address).at = value; }
#elif defined VARIANT_u64
#define Value uint64_t
#define VALUE_BYTES 8
#define ITEM_BYTES 8
Value value_at(uint64_t address) { return RefU64(address).at; }
void store(uint64_t address, Value value) { RefU64(address).at = value; }
#elif defined VARIANT_u32
#define Value uint
#define VALUE_BYTES 4
#define ITEM_BYTES 4
Value value_at(uint64_t address) { return RefU32(address).at; }
void store(uint64_t address, Value value) { RefU32(address).at = value; }
#elif defined VARIANT_u16
#define Value uint
#define VALUE_BYTES 4
#define ITEM_BYTES 2
Value value_at(uint64_t address) { return Value(RefU16(address).at); }
void store(uint64_t address, Value value) { RefU16(address).at = uint16_t(value); }
#elif defined VARIANT_u8
#define Value uint
#define VALUE_BYTES 4
#define ITEM_BYTES 1
Value value_at(uint64_t address) { return Value(RefU8(address).at); }
void store(uint64_t address, Value value) { RefU8(address).at = uint8_t(value); }
#else
#include "float_item.glsl"
#define Value float
#define VALUE_BYTES 4
Value value_at(uint64_t address) { return float_at(address); }
void store(uint64_t address, Value value) { store_float(address, value); }
#endif

#if VALUE_BYTES == 8
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Partial { Value at; };
#else
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Partial { Value at; };
#endif
