// Finds the elements that are not zero, in C order. Each invocation has a segment of elements.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../item.glsl"
#include "chosen.glsl"

// 0: counts those of each segment. 1: adds up the counts. 2: writes their numbers.
layout(constant_id = 3) const uint TASK = 0;
layout(constant_id = 4) const bool IN_SCRATCH = false;  // where the condition is

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout condition;
  int64_t count;  // invocations
  int64_t elements, segments, chosen;
  int64_t segment;      // elements of a segment
  int64_t first, stop;  // the segments of task 1
  int64_t place;        // of the condition in scratch memory
  uint64_t significant;  // the bits of an item that are not all zero if the element is not
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  if (TASK == 1u) {
    int64_t total = total_until(p, p.first - 1l).at;
    for (int64_t segment = p.first; segment < p.stop; ++segment) {
      total += total_until(p, segment).at;
      total_until(p, segment).at = total;
    }
    return;
  }
  int64_t first = int64_t(number) * p.segment, stop = min(p.elements, first + p.segment), found = 0l, limit = 0l;
  if (TASK == 2u) {
    if (number > 0ul) found = total_until(p, number - 1ul).at;
    limit = total_until(p, number).at;
  }
  uint64_t address = IN_SCRATCH ? scratch_address() + uint64_t(p.place) : push.addresses.at[p.condition.value];
  for (int64_t i = first; i < stop; ++i) {
    Wide item = Wide(item_at(address, offset_in(p.condition, uint64_t(i))).at);
    if ((uint64_t(item) & p.significant) == 0ul) continue;
    if (TASK == 2u && found < limit) chosen_at(p, found).at = i;
    ++found;
  }
  if (TASK == 0u) total_until(p, number).at = found;
}
