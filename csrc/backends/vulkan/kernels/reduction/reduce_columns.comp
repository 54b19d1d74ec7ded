// Reduces each leaf (reduce.glsl) with one invocation. Leaves of adjacent results are adjacent in memory: short rows,
// and columns of matrices.
// variants: sum_f32 sum_f16 sum_bf16 sum_f64 sum_i64 extreme_bool extreme_i8 extreme_u8 extreme_i16 extreme_u16 extreme_i32 extreme_u32 extreme_i64 extreme_u64 extreme_f16 extreme_bf16 extreme_f32 extreme_f64 place_i8 place_u8 place_i16 place_u16 place_i32 place_u32 place_i64 place_u64 place_f16 place_bf16 place_f32 place_f64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "reduce.glsl"

void spliced() {}

layout(constant_id = 4) const uint USED = LANES;  // lanes that have elements, rounded up to a power of two
layout(constant_id = 5) const bool SHORT = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout kept, reduced;
  int64_t results, count;
  int64_t leaves;
  uint to;
};
#define OPERANDS_AT 304

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t unit = invocation(), results = uint64_t(p.results), leaf = unit / results, result = unit - leaf * results;
  if (leaf >= uint64_t(p.leaves)) return;
  uint64_t address = push.addresses.at[p.kept.value] + uint64_t(offset_of(p.kept, false, result) * ITEM_BYTES);
  uint64_t stop = min(uint64_t(p.count), (leaf + 1) * LEAF);
  bool even = p.reduced.rank <= 1u;
  int64_t step = p.reduced.strides[0] * ITEM_BYTES;
  Value values[LANES];
  [[unroll]] for (uint lane = 0; lane < USED; ++lane) values[lane] = identity();
  for (uint64_t k = leaf * LEAF; k < stop; k += USED) {
    [[unroll]] for (uint lane = 0; lane < USED; ++lane) {
      uint64_t place = k + lane;
      if (place >= stop) continue;
      int64_t offset = even ? int64_t(place) * step : offset_of(p.reduced, SHORT, place) * ITEM_BYTES;
      values[lane] = combined(values[lane], value_of(address + uint64_t(offset), place));
    }
  }
  [[unroll]] for (uint width = USED / 2; width > 0; width /= 2)
    [[unroll]] for (uint lane = 0; lane < width; ++lane)
      values[lane] = combined(values[lane], values[lane + width]);
  finish(result, values[0], p.leaves == 1, p.to, push.parameters + OPERANDS_AT, unit * VALUE_BYTES);
}
