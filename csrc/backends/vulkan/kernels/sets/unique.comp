// The distinct elements of a sorted row: the first one of each run of equal elements. The chosen elements are the places
// at which the runs begin.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../item.glsl"
#include "../compaction/chosen.glsl"

// 0: writes the elements, their number, and what else there is for each of them. 1: writes the run of each element.
layout(constant_id = 3) const uint TASK = 0;
layout(constant_id = 4) const bool HAS_INDICES = false;
layout(constant_id = 5) const bool HAS_COUNTS = false;

#define KEY_BYTES (ITEM_BYTES < 4 ? 4 : ITEM_BYTES)

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t count;  // invocations
  int64_t size;   // of the outputs that have an element for each distinct one
  int64_t elements, segments, chosen;
  int64_t sorted;  // the place of the sorted entries in scratch memory
  int64_t stride;  // of x
  uint x, values, indices, counts, inverse, total;
};

int64_t index_of(Parameters p, int64_t place) {
  uint64_t entry = scratch_address() + uint64_t(p.sorted) + uint64_t(place) * (2 * KEY_BYTES);
  return min(int64_t(uint64_t(RefU32(entry + uint64_t(KEY_BYTES)).at)), p.elements - 1l);
}

void write_run(Parameters p, int64_t run) {
  int64_t total = p.elements == 0l ? 0l : total_of(p).at, index = 0l, length_ = 0l;
  if (run == 0l) RefI64(push.addresses.at[p.total]).at = total;
  if (run >= p.size) return;
  Wide item = Wide(0);
  if (run < total) {
    int64_t begin = chosen_at(p, run).at, end = run + 1l < total ? chosen_at(p, run + 1l).at : p.elements;
    index = index_of(p, begin);
    length_ = end - begin;
    item = Wide(item_at(push.addresses.at[p.x], index * p.stride).at);
  }
  item_at(push.addresses.at[p.values], run).at = Narrow(item);
  if (HAS_INDICES) RefI64(push.addresses.at[p.indices] + uint64_t(run) * 8ul).at = index;
  if (HAS_COUNTS) RefI64(push.addresses.at[p.counts] + uint64_t(run) * 8ul).at = length_;
}

// The run of a place is the last one that does not begin behind it.
void write_place(Parameters p, int64_t place) {
  int64_t low = 0l, high = total_of(p).at;
  while (low < high) {
    int64_t middle = low + (high - low) / 2l;
    if (chosen_at(p, middle).at <= place)
      low = middle + 1l;
    else
      high = middle;
  }
  RefI64(push.addresses.at[p.inverse] + uint64_t(index_of(p, place)) * 8ul).at = low - 1l;
}

void main() {
  Parameters p = Parameters(push.parameters);
  int64_t number = int64_t(invocation());
  if (number >= p.count) return;
  if (TASK == 0u)
    write_run(p, number);
  else
    write_place(p, number);
}
