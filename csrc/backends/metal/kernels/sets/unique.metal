// The distinct elements of a sorted row: the first one of each run of equal elements. The chosen elements are the
// places at which the runs begin. The including text defines `Key` (uint or ulong); `Item`, an unsigned integer of an
// element's size; HAS_INDICES and HAS_COUNTS, outputs that there may be beside the elements and their number.
#pragma once
#include "compaction/chosen.metal"

struct Parameters {
  Chosen chosen;
  ulong count;   // threads
  ulong size;    // of the outputs that have an element for each distinct one
  ulong sorted;  // the first of the sorted entries in scratch memory
  long stride;   // of x
};

// An entry of the sorted runs, as in sort.metal.
struct Entry {
  Key key;
  uint index;
};

#define INDICES_PLACE 4
#define COUNTS_PLACE (INDICES_PLACE + HAS_INDICES)
#define TOTAL_PLACE (COUNTS_PLACE + HAS_COUNTS)

#if HAS_INDICES
#define INDICES_PARAMETER device long *indices [[buffer(INDICES_PLACE)]],
#else
#define INDICES_PARAMETER
#endif
#if HAS_COUNTS
#define COUNTS_PARAMETER device long *counts [[buffer(COUNTS_PLACE)]],
#else
#define COUNTS_PARAMETER
#endif

inline ulong index_of(device const Entry* entries, constant Parameters& p, ulong place) {
  return min(ulong(entries[p.sorted + place].index), p.chosen.elements - 1);
}

// The elements, their number, and what else there is for each of them.
kernel void write_runs(device const Item* x [[buffer(0)]], device const Entry* entries [[buffer(1)]],
                       device const long* scratch [[buffer(2)]], device Item* values [[buffer(3)]],
                       INDICES_PARAMETER COUNTS_PARAMETER device long* total_to [[buffer(TOTAL_PLACE)]],
                       constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong run = THREAD_NUMBER;
  if (run >= p.count) return;
  const ulong total = p.chosen.elements == 0 ? 0 : ulong(total_of(p.chosen, scratch));
  if (run == 0) total_to[0] = long(total);
  if (run >= p.size) return;
  Item item = 0;
  ulong index = 0, length = 0;
  if (run < total) {
    const ulong begin = number_at(p.chosen, scratch, run);
    const ulong end = run + 1 < total ? number_at(p.chosen, scratch, run + 1) : p.chosen.elements;
    index = index_of(entries, p, begin);
    length = end - begin;
    item = x[long(index) * p.stride];
  }
  values[run] = item;
#if HAS_INDICES
  indices[run] = long(index);
#endif
#if HAS_COUNTS
  counts[run] = long(length);
#endif
}

// The run of each element: the last one that does not begin behind its place.
kernel void write_places(device const Entry* entries [[buffer(0)]], device const long* scratch [[buffer(1)]],
                         device long* inverse [[buffer(2)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong place = THREAD_NUMBER;
  if (place >= p.count) return;
  ulong low = 0, high = ulong(total_of(p.chosen, scratch));
  while (low < high) {
    const ulong middle = low + (high - low) / 2;
    if (number_at(p.chosen, scratch, middle) <= place)
      low = middle + 1;
    else
      high = middle;
  }
  inverse[index_of(entries, p, place)] = long(low) - 1;
}
