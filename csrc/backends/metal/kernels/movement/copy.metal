// Copies an array element by element. The including text defines `Item`, a type of the size of an element: what the
// elements are does not matter.
#pragma once
#include "interface.metal"

struct Parameters {
  Layout from, to;  // of one shape
  ulong count;
};

// Nothing is copied where source and destination are the same memory.
kernel void copy_items(device const Item* from [[buffer(0)]], device Item* to [[buffer(1)]],
                       constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count || from == to) return;
  to[offset_in(p.to, number)] = from[offset_in(p.from, number)];
}
