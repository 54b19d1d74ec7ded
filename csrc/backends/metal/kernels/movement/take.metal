// Elements at indices along an axis. The including text defines `Item`, an unsigned integer of an element's size, and
// `Index` (index_item.metal).
#pragma once
#include "movement/index_item.metal"

struct Parameters {
  Layout outer, inner;  // of x: the axes before and after the indexed one
  Layout indices;
  ulong count, inner_count, index_count;
  long size, stride;  // of the axis
  long axis;          // for messages
  uint result;        // for messages
};

kernel void take(device const Item* x [[buffer(0)]], device const Index* indices [[buffer(1)]],
                 device Item* to [[buffer(2)]], device Fault* fault [[buffer(29)]],
                 constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const ulong row = number / p.inner_count, inner = number - row * p.inner_count;
  const ulong outer = row / p.index_count, of_index = row - outer * p.index_count;
  const long index = indices[offset_in(p.indices, of_index)], place = place_of(index, p.size);
  if (place < 0) return report_fault(fault, fault_index, p.result, index, p.size, p.axis);
  to[number] = x[offset_in(p.outer, outer) + place * p.stride + offset_in(p.inner, inner)];
}
