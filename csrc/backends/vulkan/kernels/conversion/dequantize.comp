// Decodes blocks to float32, eight adjacent elements in an invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../elementwise/float_bits.glsl"
#include "../elementwise/half_precision.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout blocks;  // of the array; strides in bytes
  int64_t count;  // of groups of eight elements
  uint in_block;  // groups of a block
  uint to;
  uint16_t codebook[];
};
#include "../block_weights.glsl"

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  uint64_t which = number / p.in_block;
  float weights[8];
  decode(push.addresses.at[p.blocks.value] + uint64_t(offset_in(p.blocks, which)),
         uint(number - which * p.in_block) * 8u, weights);
  uint64_t to = push.addresses.at[p.to] + number * 32u;
  for (uint i = 0u; i < 8u; ++i) RefF32(to + i * 4u).at = weights[i];
}
