// Values in the place of the chosen slices, after copy.metal has copied x to the result. If there are not as many
// values, it is an error, and nothing is written. The including text defines `Item`, an unsigned integer of an
// element's size.
#pragma once
#include "compaction/chosen.metal"

struct Parameters {
  Layout values, to;
  Chosen chosen;
  ulong count, value_count, inner_count;  // elements, slices, and elements of a slice
  uint result, unused;                    // result: for messages
};

kernel void write_slices(device const Item* values [[buffer(0)]], device const long* scratch [[buffer(1)]],
                         device Item* to [[buffer(2)]], device Fault* fault [[buffer(29)]],
                         constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  const long total = total_of(p.chosen, scratch);
  if (total != long(p.value_count)) {
    if (number == 0) report_fault(fault, fault_chosen, p.result, total, long(p.value_count), 0);
    return;
  }
  if (number >= p.count) return;
  const ulong place = number / p.inner_count, inner = number - place * p.inner_count;
  const ulong found = number_at(p.chosen, scratch, place);
  to[offset_in(p.to, found * p.inner_count + inner)] = values[offset_in(p.values, number)];
}
