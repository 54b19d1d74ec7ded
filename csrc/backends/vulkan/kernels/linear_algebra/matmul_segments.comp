// Adds up the sums of the segments of K that matmul.comp stored, in order.
// variants: f32 f64 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "product.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  uint64_t count;
  uint segments;
  uint reserved;
  Layout operands[];
};

void spliced() {}

void main() {
  Parameters p = Parameters(push.parameters);
  element = invocation();
  operands = Operands(push.parameters + uint64_t(16));
  if (element >= p.count) return;
  result = Value(0);
  for (uint i = 0; i < p.segments; ++i) result += Partial(scratch_address() + (i * p.count + element) * VALUE_BYTES).at;
  spliced();
}
