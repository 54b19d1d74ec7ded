// Values in the place of the elements at indices along an axis, in three dispatches after copy.metal has copied x to
// the result. The last of several values at equal indices stays: its number, plus 1, is noted for each place of the
// axis. Nothing is written if an index is out of bounds. The including text defines `Item`, an unsigned integer
// of an element's size, and `Index` (index_item.metal).
#pragma once
#include "movement/index_item.metal"

struct Parameters {
  Layout values, indices;
  Layout outer, axis, inner;  // of the result: its axes before the places, those of the places, and those behind
  ulong count;                // threads
  ulong inner_count, index_count;
  long size;
  long number_of_axis;  // for messages
  uint result;          // for messages
};

// notes[size] tells whether an index is out of bounds.
kernel void clear_notes(device atomic_uint* notes [[buffer(0)]], constant Parameters& p [[buffer(30)]],
                        GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number < p.count) atomic_store_explicit(&notes[number], 0, memory_order_relaxed);
}

kernel void note_last(device const Index* indices [[buffer(0)]], device atomic_uint* notes [[buffer(1)]],
                      device Fault* fault [[buffer(29)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const long index = indices[offset_in(p.indices, number)], place = place_of(index, p.size);
  if (place >= 0) {
    atomic_fetch_max_explicit(&notes[place], uint(number) + 1, memory_order_relaxed);
  } else {
    atomic_store_explicit(&notes[p.size], 1, memory_order_relaxed);
    report_fault(fault, fault_index, p.result, index, p.size, p.number_of_axis);
  }
}

kernel void write_values(device const Item* values [[buffer(0)]], device const Index* indices [[buffer(1)]],
                         device const uint* notes [[buffer(2)]], device Item* to [[buffer(3)]],
                         constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const ulong row = number / p.inner_count, inner = number - row * p.inner_count;
  const ulong outer = row / p.index_count, of_index = row - outer * p.index_count;
  const long place = place_of(indices[offset_in(p.indices, of_index)], p.size);
  // The owner of the memory may have changed the index meanwhile.
  if (place < 0 || notes[p.size] != 0 || notes[place] != uint(of_index) + 1) return;
  const long written = offset_in(p.outer, outer) + offset_in(p.axis, ulong(place)) + offset_in(p.inner, inner);
  to[written] = values[offset_in(p.values, number)];
}
