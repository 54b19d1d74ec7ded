// Copies one of the joined arrays to its place. Array and result are treated as rows: a row holds the elements at one
// index of the axes before the joined one. The including text defines `Item`, an unsigned integer of an element's size.
#pragma once
#include "interface.metal"

struct Parameters {
  Layout from;
  ulong count;
  ulong row, to_row;  // row lengths of the array and of the result, in elements
  ulong start;        // offset of this array in a row of the result
};

kernel void concat(device const Item* from [[buffer(0)]], device Item* to [[buffer(1)]],
                   constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const ulong row = number / p.row;
  to[row * p.to_row + p.start + (number - row * p.row)] = from[offset_in(p.from, number)];
}
