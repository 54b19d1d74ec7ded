// Joins partial values of a result pairwise, in the order of reduce.glsl: up to TEAM values, by as many invocations.
// Partial i of result r is in scratch at i * results + r.
// variants: sum_f32 sum_f16 sum_bf16 sum_f64 sum_i64 extreme_bool extreme_i8 extreme_u8 extreme_i16 extreme_u16 extreme_i32 extreme_u32 extreme_i64 extreme_u64 extreme_f16 extreme_bf16 extreme_f32 extreme_f64 place_i8 place_u8 place_i16 place_u16 place_i32 place_u32 place_i64 place_u64 place_f16 place_bf16 place_f32 place_f64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "reduce.glsl"

void spliced() {}

layout(constant_id = 4) const uint TEAM = 256;  // a power of two that divides the workgroup's size

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t results, partials;
  uint64_t from_bytes, to_bytes;  // offsets in scratch
  uint to;
};
#define OPERANDS_AT 40

shared Value values[gl_WorkGroupSize.x];

void main() {
  Parameters p = Parameters(push.parameters);
  uint size = gl_WorkGroupSize.x, own = gl_LocalInvocationIndex, columns = size / TEAM;
  uint64_t results = uint64_t(p.results), strips = (results + columns - 1) / columns, group = invocation() / size;
  uint64_t block = group / strips, result = (group - block * strips) * columns + own % columns;
  uint64_t partial = block * TEAM + own / columns;
  bool counts = result < results && partial < uint64_t(p.partials);
  Value value = identity();
  if (counts) value = Partial(scratch_address() + p.from_bytes + (partial * results + result) * VALUE_BYTES).at;
  values[own] = value;
  barrier();
  for (uint gap = 1; gap < TEAM; gap *= 2) {
    uint at = own / columns * 2 * gap * columns + own % columns;
    if (at + gap * columns < size) values[at] = combined(values[at], values[at + gap * columns]);
    barrier();
  }
  if (own >= columns || !counts) return;
  finish(result, values[own], uint64_t(p.partials) <= TEAM, p.to, push.parameters + OPERANDS_AT,
         p.to_bytes + (block * results + result) * VALUE_BYTES);
}
