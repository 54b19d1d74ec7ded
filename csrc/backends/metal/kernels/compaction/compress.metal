// The chosen slices along an axis, and how many there are. The including text defines `Item`, an unsigned integer of an
// element's size.
#pragma once
#include "compaction/chosen.metal"

struct Parameters {
  Layout outer, inner;  // of x: the axes before and after the one of the slices
  Chosen chosen;
  ulong count, inner_count, size;  // of the result; `size` is that of the axis
  long stride;                     // of x along the axis
};

kernel void compress(device const Item* x [[buffer(0)]], device const long* scratch [[buffer(1)]],
                     device Item* to [[buffer(2)]], device long* count [[buffer(3)]],
                     constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  const long total = total_of(p.chosen, scratch);
  if (number == 0) count[0] = total;
  if (number >= p.count) return;
  const ulong row = number / p.inner_count, inner = number - row * p.inner_count;
  const ulong outer = row / p.size, place = row - outer * p.size;
  Item item = 0;
  if (long(place) < total) {
    const long kept = long(number_at(p.chosen, scratch, place));
    item = x[offset_in(p.outer, outer) + kept * p.stride + offset_in(p.inner, inner)];
  }
  to[number] = item;
}
