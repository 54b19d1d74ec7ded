// Reduces each leaf (reduce.glsl) with a team of 32 invocations. The elements of a leaf are adjacent: long rows.
// variants: sum_f32 sum_f16 sum_bf16 sum_f64 sum_i64 extreme_bool extreme_i8 extreme_u8 extreme_i16 extreme_u16 extreme_i32 extreme_u32 extreme_i64 extreme_u64 extreme_f16 extreme_bf16 extreme_f32 extreme_f64 place_i8 place_u8 place_i16 place_u16 place_i32 place_u32 place_i64 place_u64 place_f16 place_bf16 place_f32 place_f64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "reduce.glsl"

void spliced() {}

layout(constant_id = 4) const uint LEAVES = 1;  // leaves of one result that a workgroup reduces, a power of two
layout(constant_id = 5) const uint SLOTS = 8;   // leaves that a workgroup reduces
layout(constant_id = 6) const bool SHORT = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout kept, reduced;
  int64_t results, count;
  int64_t parts;  // the number of parts of a result, one for each workgroup
  uint to;
};
#define OPERANDS_AT 304

shared Value values[SLOTS * LANES];

Value leaf_of_lane(Parameters p, uint64_t result, uint64_t leaf, uint lane) {
  Value value = identity();
  uint64_t length = uint64_t(p.count), first = leaf * LEAF;
  if (result >= uint64_t(p.results) || first >= length) return value;
  uint64_t address = push.addresses.at[p.kept.value] + uint64_t(offset_of(p.kept, false, result) * ITEM_BYTES);
  uint64_t stop = min(length, first + LEAF), k = first + lane;
  if (p.reduced.rank <= 1u) {
    int64_t step = p.reduced.strides[0] * ITEM_BYTES;
    for (; k + 3 * LANES < stop; k += 4 * LANES) {
      uint64_t at = address + uint64_t(int64_t(k) * step);
      Value a = value_of(at, k), b = value_of(at + uint64_t(LANES * step), k + LANES);
      Value c = value_of(at + uint64_t(2 * LANES * step), k + 2 * LANES);
      Value d = value_of(at + uint64_t(3 * LANES * step), k + 3 * LANES);
      value = combined(combined(combined(combined(value, a), b), c), d);
    }
    for (; k < stop; k += LANES) value = combined(value, value_of(address + uint64_t(int64_t(k) * step), k));
    return value;
  }
  for (; k < stop; k += LANES)
    value = combined(value, value_of(address + uint64_t(offset_of(p.reduced, SHORT, k) * ITEM_BYTES), k));
  return value;
}

void main() {
  Parameters p = Parameters(push.parameters);
  uint size = gl_WorkGroupSize.x, own = gl_LocalInvocationIndex;
  uint64_t first_unit = invocation() / size * (SLOTS / LEAVES);  // a unit is a part of a result
  uint64_t parts = uint64_t(p.parts);
  for (uint slot = own / LANES; slot < SLOTS; slot += size / LANES) {
    uint64_t unit = first_unit + slot / LEAVES, result = unit / parts;
    uint64_t leaf = (unit - result * parts) * LEAVES + slot % LEAVES;
    values[slot * LANES + own % LANES] = leaf_of_lane(p, result, leaf, own % LANES);
  }
  barrier();
  for (uint width = LANES / 2; width > 0; width /= 2) {
    for (uint i = own; i < SLOTS * width; i += size) {
      uint at = i / width * LANES + i % width;
      values[at] = combined(values[at], values[at + width]);
    }
    barrier();
  }
  for (uint gap = 1; gap < LEAVES; gap *= 2) {
    for (uint i = own; i < SLOTS / (2 * gap); i += size) {
      uint at = i * 2 * gap * LANES;
      values[at] = combined(values[at], values[at + gap * LANES]);
    }
    barrier();
  }
  for (uint i = own; i < SLOTS / LEAVES; i += size) {
    uint64_t unit = first_unit + i, result = unit / parts;
    if (result >= uint64_t(p.results)) continue;
    finish(result, values[i * LEAVES * LANES], parts == 1, p.to, push.parameters + OPERANDS_AT,
           ((unit - result * parts) * uint64_t(p.results) + result) * VALUE_BYTES);
  }
}
