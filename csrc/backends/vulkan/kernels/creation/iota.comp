// iota: 0, 1, 2, ...
// variants: u8 u16 u32 u64 f16 bf16 f32 f64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"

#if defined VARIANT_f16 || defined VARIANT_bf16 || defined VARIANT_f32
#include "../float_item.glsl"
#define STORE(address, n) store_float(address, float(n))
#elif defined VARIANT_f64
// Computes in integers, so that the device does not need float64. Exact below 2^53.
uint64_t bits_of_double(uint64_t n) {
  if (n == 0ul) return 0ul;
  uint high = uint(n >> 32);
  int exponent = high != 0u ? 32 + findMSB(high) : findMSB(uint(n));
  uint64_t digits = exponent <= 52 ? n << (52 - exponent) : n >> (exponent - 52);
  return (uint64_t(1023 + exponent) << 52) | (digits & 0xffffffffffffful);
}
#define ITEM_BYTES 8
#define STORE(address, n) RefU64(address).at = bits_of_double(n)
#else
#include "../item.glsl"
#define STORE(address, n) Item(address).at = Narrow(n)
#endif

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t count;
  uint to;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t index = invocation();
  if (index < uint64_t(p.count)) STORE(push.addresses.at[p.to] + index * ITEM_BYTES, index);
}
