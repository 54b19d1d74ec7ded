// Adds up what matmul.comp left of each segment of K, in order.
// variants: f32 f16 bf16 f64 u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "product.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  uint64_t count;
  uint segments;
  uint to;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t place = invocation();
  if (place >= p.count) return;
  Value total = Value(0);
  for (uint i = 0; i < p.segments; ++i) total += Partial(scratch_address() + (i * p.count + place) * VALUE_BYTES).at;
  store(push.addresses.at[p.to] + place * ITEM_BYTES, total);
}
