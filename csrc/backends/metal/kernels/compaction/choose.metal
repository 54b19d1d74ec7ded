// Finds the elements that are not zero, in C order. Each thread has a segment of elements. The including text defines
// `Item`, an unsigned integer of an element's size.
#pragma once
#include "compaction/chosen.metal"

#define THREADS 256

struct Parameters {
  Layout condition;
  Chosen chosen;
  ulong start;        // of the condition in its buffer, in elements
  ulong segment;      // elements of a segment
  ulong significant;  // the bits of an item that are not all zero if the element is not
};

inline bool is_chosen(device const Item* condition, constant Parameters& p, ulong element) {
  return (ulong(condition[long(p.start) + offset_in(p.condition, element)]) & p.significant) != 0;
}

kernel void count_chosen(device const Item* condition [[buffer(0)]], device long* scratch [[buffer(1)]],
                         constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.chosen.segments) return;
  const ulong first = number * p.segment, stop = min(p.chosen.elements, first + p.segment);
  long found = 0;
  for (ulong i = first; i < stop; ++i) found += is_chosen(condition, p, i) ? 1 : 0;
  scratch[p.chosen.place + number] = found;
}

// Adds up the counts, in one threadgroup. A thread has adjacent segments.
kernel void add_counts(device long* scratch [[buffer(0)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  FERRULE_THREADGROUP(long, totals, [THREADS]);
  device long* const counts = scratch + p.chosen.place;
  const ulong stretch = (p.chosen.segments + THREADS - 1) / THREADS, first = min(p.chosen.segments, own * stretch);
  const ulong stop = min(p.chosen.segments, first + stretch);
  long total = 0;
  for (ulong i = first; i < stop; ++i) total += counts[i];
  totals[own] = total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = 0;
  for (uint i = 0; i < own; ++i) total += totals[i];
  for (ulong i = first; i < stop; ++i) counts[i] = total += counts[i];
}

kernel void write_chosen(device const Item* condition [[buffer(0)]], device long* scratch [[buffer(1)]],
                         constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.chosen.segments) return;
  device long* const counts = scratch + p.chosen.place;
  const ulong first = number * p.segment, stop = min(p.chosen.elements, first + p.segment);
  long found = number > 0 ? counts[number - 1] : 0;
  const long limit = counts[number];
  for (ulong i = first; i < stop; ++i)
    if (is_chosen(condition, p, i) && found < limit) counts[p.chosen.segments + ulong(found++)] = long(i);
}
