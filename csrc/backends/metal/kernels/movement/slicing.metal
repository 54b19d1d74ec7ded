// Slices whose starts are operands: read from x, or written into a result to which copy.metal has copied x. The
// including text defines `Item`, an unsigned integer of an element's size, `Index`, int or long, the type of the
// starts, and MOVED_IS_WRITTEN: 1 if the starts move the destination, and 0 if they move the source.
#pragma once
#include "interface.metal"

struct Start {
  uint axis;  // for messages
  long most, stride;
};
struct Parameters {
  Layout from;  // of one shape, each from the first element of the array that holds the slice
  Layout to;
  ulong count;
  uint result;  // for messages
  uint start_count;
  Start starts[MAX_RANK];
};

// Each start is a single element, and start_count is at least 1. The starts from start_count on are not read: any
// buffer may be bound for them.
kernel void move_slice(device const Item* from [[buffer(0)]], device const Index* start0 [[buffer(1)]],
                       device const Index* start1 [[buffer(2)]], device const Index* start2 [[buffer(3)]],
                       device const Index* start3 [[buffer(4)]], device const Index* start4 [[buffer(5)]],
                       device const Index* start5 [[buffer(6)]], device const Index* start6 [[buffer(7)]],
                       device const Index* start7 [[buffer(8)]], device Item* to [[buffer(9)]],
                       device Fault* fault [[buffer(29)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  device const Index* const starts[MAX_RANK] = {start0, start1, start2, start3, start4, start5, start6, start7};
  long moved = 0;
  for (uint i = 0; i < p.start_count; ++i) {
    const long start = starts[i][0], most = p.starts[i].most;
    if (start < 0 || start > most) return report_fault(fault, fault_start, p.result, start, most, p.starts[i].axis);
    moved += start * p.starts[i].stride;
  }
  const long read = offset_in(p.from, number), written = offset_in(p.to, number);
  to[written + (MOVED_IS_WRITTEN ? moved : 0)] = from[read + (MOVED_IS_WRITTEN ? 0 : moved)];
}
