// pad: adds elements around an array. The including text defines `Item`, an unsigned integer of an element's size, and
// HAS_VALUE: 1 if the added elements are that of the operand `value`, which comes after the array, and 0 if they are
// zeros.
#pragma once
#include "interface.metal"

// One for each axis, the last axis first.
struct Axis {
  long size;    // of the result
  long before;  // elements added
  long inside;  // size of the array
  long stride;  // of the array
};
struct Parameters {
  Axis axes[MAX_RANK];
  ulong count;
  uint rank;
};

#if HAS_VALUE
#define VALUE_PARAMETER device const Item *value [[buffer(1)]],
#define RESULT_PLACE 2
#define ADDED value[0]
#else
#define VALUE_PARAMETER
#define RESULT_PLACE 1
#define ADDED Item(0)
#endif

kernel void pad(device const Item* from [[buffer(0)]], VALUE_PARAMETER device Item* to [[buffer(RESULT_PLACE)]],
                constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  ulong rest = number;
  long read = 0;
  bool is_inside = true;
  for (uint k = 0; k < p.rank; ++k) {
    const ulong size = ulong(p.axes[k].size), next = rest / size;
    const long at = long(rest - next * size) - p.axes[k].before;
    is_inside = is_inside && at >= 0 && at < p.axes[k].inside;
    read += at * p.axes[k].stride;
    rest = next;
  }
  to[number] = is_inside ? from[read] : ADDED;
}
