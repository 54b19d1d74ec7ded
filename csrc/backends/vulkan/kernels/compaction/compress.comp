// The chosen slices along an axis, and how many there are.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../item.glsl"
#include "chosen.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout outer, inner;  // of x: the axes before and after the one of the slices
  int64_t count, inner_count, size;  // of the result; `size` is that of the axis
  int64_t elements, stride;          // of x along the axis
  int64_t segments, chosen;
  uint to, total;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  int64_t total = total_of(p).at;
  if (number == 0ul) RefI64(push.addresses.at[p.total]).at = total;
  if (number >= uint64_t(p.count)) return;
  uint64_t row = number / uint64_t(p.inner_count), inner = number - row * uint64_t(p.inner_count);
  uint64_t outer = row / uint64_t(p.size), place = row - outer * uint64_t(p.size);
  Wide item = Wide(0);
  if (int64_t(place) < total) {
    int64_t kept = clamp(chosen_at(p, place).at, 0l, p.elements - 1l);
    int64_t from = offset_in(p.outer, outer) + kept * p.stride + offset_in(p.inner, inner);
    item = Wide(item_at(push.addresses.at[p.outer.value], from).at);
  }
  item_at(push.addresses.at[p.to], int64_t(number)).at = Narrow(item);
}
