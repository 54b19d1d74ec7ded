// 0, 1, 2, ...
// variants: u8 u16 u32 u64 f16 bf16 f32 f64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "half.glsl"

#if defined VARIANT_f16
#define Item RefU16
#define NUMBER(n) uint16_t(f16_of_f32(float(n)))
#elif defined VARIANT_bf16
#define Item RefU16
#define NUMBER(n) uint16_t(bf16_of_f32(float(n)))
#elif defined VARIANT_f32
#define Item RefF32
#define NUMBER(n) float(n)
#elif defined VARIANT_f64
// In integers, so that the device need not have float64; below 2^53 it is exact.
uint64_t bits_of_double(uint64_t n) {
  if (n == 0ul) return 0ul;
  uint high = uint(n >> 32);
  int exponent = high != 0u ? 32 + findMSB(high) : findMSB(uint(n));
  uint64_t digits = exponent <= 52 ? n << (52 - exponent) : n >> (exponent - 52);
  return (uint64_t(1023 + exponent) << 52) | (digits & 0xffffffffffffful);
}
#define Item RefU64
#define NUMBER(n) bits_of_double(n)
#else
#include "item.glsl"
#define NUMBER(n) Narrow(n)
#endif
#if defined VARIANT_f16 || defined VARIANT_bf16
#define ITEM_BYTES 2
#elif defined VARIANT_f32
#define ITEM_BYTES 4
#elif defined VARIANT_f64
#define ITEM_BYTES 8
#endif

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t count;
  uint to;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t index = invocation();
  if (index < uint64_t(p.count)) Item(push.addresses.at[p.to] + index * ITEM_BYTES).at = NUMBER(index);
}
