#version 460
#extension GL_GOOGLE_include_directive : require
// variants: basic f64
// All elementwise ops, single and fused. The calls for one element are spliced in (pipelines/splice.h).
#include "shader_interface.glsl"
#include "elementwise/functions.glsl"
#include "elementwise/further_functions.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  uint64_t count;
  Layout operands[];
};

void spliced() {}

void main() {
  element = invocation();
  operands = Operands(push.parameters + uint64_t(8));
  if (element < Parameters(push.parameters).count) spliced();
}
