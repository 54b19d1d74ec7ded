// Values in the place of the elements at indices along an axis. The last of several values at equal indices
// stays: its number, plus 1, is noted for each place of the axis. Nothing but x is written if an index is out of
// bounds.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../index_item.glsl"
#include "../item.glsl"

// 0: copies x to the output, unless the output has the memory of x. 1: clears the notes. 2: notes the last value of
// each place. 3: writes the values that are noted.
layout(constant_id = 3) const uint TASK = 0;
layout(constant_id = 4) const uint INDEX_BYTES = 8;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout x, values, indices;
  Layout whole;                // the output
  Layout outer, axis, inner;  // its axes before the places, those of the places, and those behind
  int64_t count;              // invocations
  int64_t inner_count, index_count, size;
  int64_t number_of_axis;     // for messages
};

// The note of a place; that of place `size` tells whether an index is out of bounds.
#define note_of(place) RefU32(scratch_address() + uint64_t(place) * 4ul)

int64_t found_at(Parameters p, uint64_t number) {
  int64_t offset = offset_in(p.indices, number) * int64_t(INDEX_BYTES);
  return index_at(push.addresses.at[p.indices.value] + uint64_t(offset), INDEX_BYTES);
}
bool is_inside(Parameters p, int64_t place) { return place >= 0l && place < p.size; }

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  uint64_t to = push.addresses.at[p.whole.value];
  if (TASK == 0u) {
    uint64_t from = push.addresses.at[p.x.value];
    if (from != to) item_at(to, offset_in(p.whole, number)).at = item_at(from, offset_in(p.x, number)).at;
  } else if (TASK == 1u) {
    note_of(number).at = 0u;
  } else if (TASK == 2u) {
    int64_t found = found_at(p, number), place = found < 0l ? found + p.size : found;
    if (is_inside(p, place)) {
      atomicMax(note_of(place).at, uint(number) + 1u);
    } else {
      note_of(p.size).at = 1u;
      report_fault(FAULT_INDEX, p.whole.value, found, p.size, p.number_of_axis);
    }
  } else {
    uint64_t row = number / uint64_t(p.inner_count), inner = number - row * uint64_t(p.inner_count);
    uint64_t outer = row / uint64_t(p.index_count), index = row - outer * uint64_t(p.index_count);
    int64_t found = found_at(p, index), place = found < 0l ? found + p.size : found;
    // The owner of the memory may have changed the index meanwhile.
    if (!is_inside(p, place) || note_of(p.size).at != 0u || note_of(place).at != uint(index) + 1u) return;
    int64_t written = offset_in(p.outer, outer) + offset_in(p.axis, uint64_t(place)) + offset_in(p.inner, inner);
    item_at(to, written).at = item_at(push.addresses.at[p.values.value], offset_in(p.values, number)).at;
  }
}
