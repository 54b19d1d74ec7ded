// Loads and stores floating-point items as float32.
#include "elementwise/float_bits.glsl"
#include "elementwise/half_precision.glsl"

#if defined VARIANT_f16
#define ITEM_BYTES 2
float float_at(uint64_t address) { return widened_f16(uint(RefU16(address).at)); }
void store_float(uint64_t address, float value) { RefU16(address).at = uint16_t(narrowed_f16(as_f16(value))); }
#elif defined VARIANT_bf16
#define ITEM_BYTES 2
float float_at(uint64_t address) { return widened_bf16(uint(RefU16(address).at)); }
void store_float(uint64_t address, float value) { RefU16(address).at = uint16_t(narrowed_bf16(as_bf16(value))); }
#else
#define ITEM_BYTES 4
float float_at(uint64_t address) { return RefF32(address).at; }
void store_float(uint64_t address, float value) { RefF32(address).at = value; }
#endif

float item(uint64_t address, int64_t offset) { return float_at(address + uint64_t(offset * ITEM_BYTES)); }
