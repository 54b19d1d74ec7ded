// Floating-point items as float32 sees them.
#include "half.glsl"

#if defined VARIANT_f16 || defined VARIANT_sum_f16
#define ITEM_BYTES 2
float float_at(uint64_t address) { return f32_of_f16(uint(RefU16(address).at)); }
void store_float(uint64_t address, float value) { RefU16(address).at = uint16_t(f16_of_f32(value)); }
#elif defined VARIANT_bf16 || defined VARIANT_sum_bf16
#define ITEM_BYTES 2
float float_at(uint64_t address) { return f32_of_bf16(uint(RefU16(address).at)); }
void store_float(uint64_t address, float value) { RefU16(address).at = uint16_t(bf16_of_f32(value)); }
#else
#define ITEM_BYTES 4
float float_at(uint64_t address) { return RefF32(address).at; }
void store_float(uint64_t address, float value) { RefF32(address).at = value; }
#endif

float item(uint64_t address, int64_t offset) { return float_at(address + uint64_t(offset * ITEM_BYTES)); }
