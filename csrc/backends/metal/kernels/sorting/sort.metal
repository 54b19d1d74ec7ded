// Stable sorts of rows by merging: runs of elements are sorted, and each dispatch merges pairs of them into runs of
// twice the length, between two halves of the node's scratch memory. An element's place in the merged run is its own
// plus the number of elements of the other run that come before it, which a binary search finds. Elements are compared
// by keys. The including text defines IS_DESCENDING and what sorting_keys.metal needs.
#pragma once
#include "sorting_keys.metal"

#define RUN 8  // elements of the first runs

struct Parameters {
  Layout kept;      // the rows of x
  ulong count;      // threads
  ulong row_length;
  long stride;
  ulong run;        // the length of the runs to be merged
  ulong from, to;   // the first entries of two halves of the scratch memory
  ulong marks;      // the place of the marks in scratch memory, in bytes
};

struct Entry {
  Key key;
  uint index;
};

// Insertion: an element moves before those with greater keys.
kernel void sort_runs(device const Stored* x [[buffer(0)]], device Entry* scratch [[buffer(1)]],
                      constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const ulong runs = (p.row_length + RUN - 1) / RUN, row = number / runs, first = (number - row * runs) * RUN;
  const uint size = uint(min(p.row_length - first, ulong(RUN)));
  const long start = offset_in(p.kept, row);
  Entry sorted[RUN];
  for (uint i = 0; i < size; ++i) {
    const uint index = uint(first) + i;
    const Key found = key_at(x, start + long(index) * p.stride), key = IS_DESCENDING ? ~found : found;
    uint place = i;
    for (; place > 0 && sorted[place - 1].key > key; --place) sorted[place] = sorted[place - 1];
    sorted[place] = Entry{key, index};
  }
  device Entry* const to = scratch + p.to + row * p.row_length + first;
  for (uint i = 0; i < size; ++i) to[i] = sorted[i];
}

kernel void merge_runs(device Entry* scratch [[buffer(0)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const ulong row = number / p.row_length, place = number - row * p.row_length, begin = number - place;
  const ulong pair = place / (2 * p.run) * 2 * p.run, middle = min(pair + p.run, p.row_length);
  const bool is_first = place < middle;
  device const Entry* const from = scratch + p.from + begin;
  const Entry own_entry = from[place];
  // Equal elements of the first run come before those of the second one: the sort is stable.
  ulong low = is_first ? middle : pair, high = is_first ? min(pair + 2 * p.run, p.row_length) : middle;
  const ulong other = low;
  while (low < high) {
    const ulong between = low + (high - low) / 2;
    const Key found = from[between].key;
    if (is_first ? found < own_entry.key : found <= own_entry.key)
      low = between + 1;
    else
      high = between;
  }
  const ulong before = place - (is_first ? pair : middle);
  scratch[p.to + begin + pair + before + (low - other)] = own_entry;
}

inline ulong index_of(device const Entry* scratch, constant Parameters& p, ulong number) {
  return min(ulong(scratch[p.from + number].index), p.row_length - 1);
}

kernel void write_elements(device const Stored* x [[buffer(0)]], device const Entry* scratch [[buffer(1)]],
                           device Stored* to [[buffer(2)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  to[number] = x[offset_in(p.kept, number / p.row_length) + long(index_of(scratch, p, number)) * p.stride];
}

kernel void write_indices(device const Entry* scratch [[buffer(0)]], device long* to [[buffer(1)]],
                          constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number < p.count) to[number] = long(index_of(scratch, p, number));
}

// Marks the elements of a single row that differ from the one before them, in scratch memory. NaN equals nothing.
kernel void mark_runs(device const Entry* scratch [[buffer(0)]], device uchar* marks [[buffer(1)]],
                      constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  const Key key = scratch[p.from + number].key;
  bool differs = number == 0 || key != scratch[p.from + number - 1].key;
#if defined KEYS_OF_FLOATS
  differs = differs || key == key_of_nan;
#endif
  marks[p.marks + number] = differs ? 1 : 0;
}
