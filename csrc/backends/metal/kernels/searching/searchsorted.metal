// The places of elements in a sorted array, by binary search. The including text defines IS_RIGHT, whether a place is
// behind equal elements, and what sorting_keys.metal needs.
#pragma once
#include "sorting_keys.metal"

struct Parameters {
  Layout wanted;
  ulong count, size;
  long stride;  // the last two of the sorted array
};

kernel void searchsorted(device const Stored* sorted [[buffer(0)]], device const Stored* wanted [[buffer(1)]],
                         device long* to [[buffer(2)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const Key key = key_at(wanted, offset_in(p.wanted, number));
  // All elements before `low` come before the place, none from `high` on.
  ulong low = 0, high = p.size;
  while (low < high) {
    const ulong middle = low + (high - low) / 2;
    const Key found = key_at(sorted, long(middle) * p.stride);
    if (IS_RIGHT ? found <= key : found < key)
      low = middle + 1;
    else
      high = middle;
  }
  to[number] = long(low);
}
