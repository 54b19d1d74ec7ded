// The k greatest or least elements of each row, sorted, with one threadgroup per row. The k-th key is found digit by
// digit, from the counts of each digit. The first of equal elements are taken; the last one taken is found in the same
// way. The taken elements are then sorted by a bitonic network in the node's scratch memory. The including text defines
// LEAST, whether the least are wanted, and what sorting_keys.metal needs.
#pragma once
#include "sorting_keys.metal"

#define THREADS 256

struct Parameters {
  Layout kept;
  ulong rows, inner;  // inner: elements of the outputs between the elements of a row
  ulong padded;       // k, rounded up to a power of two
  long stride;        // of x along the axis
  uint length, k;
};

struct Entry {
  Key key;
  uint index;
};

// Earlier elements have greater turns.
inline uint turn_of(uint index) { return ~index; }

inline Key wanted_key(device const Stored* from, long at) { return LEAST ? ~key_at(from, at) : key_at(from, at); }

inline bool is_better(Entry a, Entry b) { return a.key != b.key ? a.key > b.key : a.index < b.index; }

inline void clear(threadgroup atomic_uint* histogram, uint own) {
  for (uint i = own; i < 256; i += THREADS) atomic_store_explicit(&histogram[i], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
inline void count(threadgroup atomic_uint* histogram, uint digit) {
  atomic_fetch_add_explicit(&histogram[digit], 1, memory_order_relaxed);
}
inline uint counted(threadgroup atomic_uint* histogram, uint digit) {
  return atomic_load_explicit(&histogram[digit], memory_order_relaxed);
}
// The digit of the element of this number among the counted ones, which becomes its number among those of that digit.
inline uint digit_found(threadgroup atomic_uint* histogram, threadgroup uint* missing) {
  uint digit = 255, rest = missing[0];
  while (digit > 0 && counted(histogram, digit) < rest) rest -= counted(histogram, digit--);
  missing[0] = rest;
  return digit;
}

kernel void topk(device const Stored* x [[buffer(0)]], device Stored* values [[buffer(1)]],
                 device long* indices [[buffer(2)]], device Entry* scratch [[buffer(3)]],
                 constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  FERRULE_THREADGROUP(atomic_uint, histogram, [256]);
  FERRULE_THREADGROUP(atomic_uint, taken, [1]);
  FERRULE_THREADGROUP(uint, missing, [1]);     // elements still to be taken, of those with the digits found so far
  FERRULE_THREADGROUP(Key, found_key, [1]);    // the key of the k-th element
  FERRULE_THREADGROUP(uint, found_turn, [1]);  // the least turn taken, of the elements with that key
  FERRULE_THREADGROUP(uint, has_ties, [1]);    // whether elements with that key are not taken
  const ulong row = group_number(group, groups);
  if (row >= p.rows) return;  // the whole threadgroup returns
  const long start = offset_in(p.kept, row);
  if (own == 0) {
    missing[0] = p.k;
    found_key[0] = 0;
    found_turn[0] = 0;
    has_ties[0] = 0;
    atomic_store_explicit(&taken[0], 0, memory_order_relaxed);
  }

  Key known = 0;  // the bits of the digits so far
  for (int shift = int(8 * sizeof(Key)) - 8; shift >= 0; shift -= 8) {
    clear(histogram, own);
    for (uint i = own; i < p.length; i += THREADS) {
      const Key key = wanted_key(x, start + long(i) * p.stride);
      if ((key & known) == found_key[0]) count(histogram, uint(key >> shift) & 255);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (own == 0) {
      const uint digit = digit_found(histogram, missing);
      found_key[0] |= Key(digit) << shift;
      has_ties[0] = uint(counted(histogram, digit) > missing[0]);
    }
    known |= Key(255) << shift;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  uint known_turn = 0;
  for (int shift = has_ties[0] != 0 ? 24 : -8; shift >= 0; shift -= 8) {
    clear(histogram, own);
    for (uint i = own; i < p.length; i += THREADS) {
      const Key key = wanted_key(x, start + long(i) * p.stride);
      if (key == found_key[0] && (turn_of(i) & known_turn) == found_turn[0])
        count(histogram, turn_of(i) >> shift & 255);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (own == 0) found_turn[0] |= digit_found(histogram, missing) << shift;
    known_turn |= 255u << shift;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  device Entry* const entries = scratch + row * p.padded;
  for (uint i = own; i < p.length; i += THREADS) {
    const Key key = wanted_key(x, start + long(i) * p.stride);
    if (key < found_key[0] || (key == found_key[0] && turn_of(i) < found_turn[0])) continue;
    const uint place = atomic_fetch_add_explicit(&taken[0], 1, memory_order_relaxed);
    // More than k are found if the owner of the memory writes to it meanwhile.
    if (place < p.k) entries[place] = Entry{key, i};
  }
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  const uint filled = min(atomic_load_explicit(&taken[0], memory_order_relaxed), p.k);
  for (ulong i = filled + own; i < p.padded; i += THREADS) entries[i] = Entry{0, ~0u};  // worse than any element
  threadgroup_barrier(mem_flags::mem_device);

  for (ulong block = 2; block <= p.padded; block *= 2)
    for (ulong gap = block / 2; gap > 0; gap /= 2) {
      for (ulong i = own; i < p.padded / 2; i += THREADS) {
        const ulong place = 2 * i - (i & (gap - 1));
        const Entry a = entries[place], b = entries[place + gap];
        if (is_better(a, b) == ((place & block) == 0)) continue;
        entries[place] = b;
        entries[place + gap] = a;
      }
      threadgroup_barrier(mem_flags::mem_device);
    }

  const ulong outer = row / p.inner, first = outer * p.k * p.inner + (row - outer * p.inner);
  for (uint i = own; i < p.k; i += THREADS) {
    const uint index = min(entries[i].index, p.length - 1);
    const ulong to = first + i * p.inner;
    values[to] = x[start + long(index) * p.stride];
    indices[to] = index;
  }
}
