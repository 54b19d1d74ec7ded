// Values in the place of the chosen slices. If there are not as many values, it is an error, and nothing but x is
// written.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../item.glsl"
#include "chosen.glsl"

// 0: copies x to the output, unless the output has the memory of x. 1: writes the values.
layout(constant_id = 3) const uint TASK = 0;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout x, values, to;  // `to` is the output
  int64_t count;         // invocations
  int64_t value_count, inner_count;  // slices, and elements of a slice
  int64_t elements, segments, chosen;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation(), to = push.addresses.at[p.to.value];
  if (TASK == 0u) {
    uint64_t from = push.addresses.at[p.x.value];
    if (number < uint64_t(p.count) && from != to)
      item_at(to, offset_in(p.to, number)).at = item_at(from, offset_in(p.x, number)).at;
    return;
  }
  int64_t total = total_of(p).at;
  if (total != p.value_count) {
    if (number == 0ul) report_fault(FAULT_CHOSEN, p.to.value, total, p.value_count, 0l);
    return;
  }
  if (number >= uint64_t(p.count)) return;
  uint64_t place = number / uint64_t(p.inner_count), inner = number - place * uint64_t(p.inner_count);
  uint64_t found = uint64_t(clamp(chosen_at(p, place).at, 0l, p.elements - 1l));
  int64_t written = offset_in(p.to, found * uint64_t(p.inner_count) + inner);
  item_at(to, written).at = item_at(push.addresses.at[p.values.value], offset_in(p.values, number)).at;
}
