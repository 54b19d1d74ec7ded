// Elements at indices along an axis, with one index for each element of the result. The including text defines `Item`,
// an unsigned integer of an element's size, and `Index` (index_item.metal).
#pragma once
#include "movement/index_item.metal"

struct Parameters {
  Layout others;  // of x, in the result's shape: the strides along the axis are 0
  Layout indices;
  ulong count;
  long size, stride;  // of the axis
  long axis;          // for messages
  uint result;        // for messages
};

kernel void take_along_axis(device const Item* x [[buffer(0)]], device const Index* indices [[buffer(1)]],
                            device Item* to [[buffer(2)]], device Fault* fault [[buffer(29)]],
                            constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const long index = indices[offset_in(p.indices, number)], place = place_of(index, p.size);
  if (place < 0) return report_fault(fault, fault_index, p.result, index, p.size, p.axis);
  to[number] = x[offset_in(p.others, number) + place * p.stride];
}
