// Copies elements of 16 bytes, which elementwise.comp does not have: what they are does not matter.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Item { u64vec2 at; };

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout from, to;  // of one shape
  int64_t count;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  uint64_t from = push.addresses.at[p.from.value] + uint64_t(offset_in(p.from, number) * 16l);
  uint64_t to = push.addresses.at[p.to.value] + uint64_t(offset_in(p.to, number) * 16l);
  Item(to).at = Item(from).at;
}
