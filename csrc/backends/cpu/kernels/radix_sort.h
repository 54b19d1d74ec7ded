// Sorts unsigned integers by their bits from `low` on, with a second array of the same size. The bits below `low` must
// already ascend among integers that are equal in the others.
//
// A long array is distributed into buckets by all threads, each of which counts and moves parts of it. A bucket that
// fits in the cache is sorted by one thread: by vectors where they are wide enough, else from the lowest 8 bits to the
// highest, or in turn by the highest.
#pragma once

#include "distribution.h"
#include "vector_sort.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int digit_bits = 8;
static_assert(bucket_count == int64_t{1} << digit_bits);
constexpr int lowest_first_digits = 3;  // a block with more digits is distributed by its highest one
constexpr int64_t block_tables = (8 + lowest_first_digits) * bucket_count;  // uint32_t entries that sort_block needs

template <class K>
HWY_INLINE int64_t digit_of(K key, int shift) {
  return static_cast<int64_t>(key >> shift & static_cast<K>(bucket_count - 1));
}

template <class K>
void insertion_sort(K* a, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const K key = a[i];
    int64_t at = i;
    for (; at > 0 && a[at - 1] > key; --at) a[at] = a[at - 1];
    a[at] = key;
  }
}

// The bits in which the integers differ.
template <class K>
K varying_bits(const K* a, int64_t n, K first) {
  K varying = 0;
  for (int64_t i = 0; i < n; ++i) varying = static_cast<K>(varying | (a[i] ^ first));
  return varying;
}

// Replaces counts by the sums of those before.
inline void to_starts(uint32_t* counts) {
  uint32_t start = 0;
  for (int64_t i = 0; i < bucket_count; ++i) {
    const uint32_t count = counts[i];
    counts[i] = start;
    start += count;
  }
}

template <class K>
void move_to_buckets(const K* from, int64_t n, int shift, uint32_t* places, K* to) {
  for (int64_t i = 0; i < n; ++i) {
    const K key = from[i];
    to[places[digit_of(key, shift)]++] = key;
  }
}

// Twice the depth of even parts: only arrays that are made to have bad pivots need more.
constexpr int most_depth(int64_t n) { return 2 * highest_bit(static_cast<uint64_t>(n) | 1); }

template <class K>
void sort_block(K* a, K* b, int64_t n, int low, bool into_b, uint32_t* tables);

// The digits in which some integers differ.
struct Digits {
  int shifts[8], count = 0;
  template <class K>
  Digits(K varying, int low) {
    for (int shift = low; shift < static_cast<int>(8 * sizeof(K)); shift += digit_bits)
      if (digit_of(varying, shift) != 0) shifts[count++] = shift;
  }
};

// Like sort_block, by the digits, which differ in `varying` bits.
template <class K>
void sort_by_digits(K* a, K* b, int64_t n, int low, K varying, bool into_b, uint32_t* tables) {
  const Digits digits(varying, low);
  const int count = digits.count;
  if (count > lowest_first_digits) {
    const int shift = static_cast<int>(larger(low, highest_bit(varying) - digit_bits + 1));
    memset(tables, 0, bucket_count * sizeof(uint32_t));
    for (int64_t i = 0; i < n; ++i) ++tables[digit_of(a[i], shift)];
    to_starts(tables);
    move_to_buckets(a, n, shift, tables, b);
    int64_t first = 0;
    for (int64_t i = 0; i < bucket_count; ++i) {
      const int64_t end = tables[i];
      if (end > first) sort_block(b + first, a + first, end - first, low, !into_b, tables + bucket_count);
      first = end;
    }
    return;
  }
  memset(tables, 0, static_cast<size_t>(count * bucket_count) * sizeof(uint32_t));
  for (int64_t i = 0; i < n; ++i)
    for (int k = 0; k < count; ++k) ++tables[k * bucket_count + digit_of(a[i], digits.shifts[k])];
  for (int k = 0; k < count; ++k) {
    to_starts(tables + k * bucket_count);
    move_to_buckets(k % 2 == 0 ? a : b, n, digits.shifts[k], tables + k * bucket_count, k % 2 == 0 ? b : a);
  }
  if ((count % 2 != 0) != into_b) memcpy(into_b ? b : a, into_b ? a : b, static_cast<size_t>(n) * sizeof(K));
}

template <class K>
K varying_from(const K* a, int64_t n, int low) {
  return static_cast<K>(varying_bits(a, n, a[0]) >> low << low);
}

template <class K>
void sort_by_vectors(K* a, K* b, int64_t n, int low, bool into_b, uint32_t* tables) {
  if constexpr (has_vector_sort<K>)
    vector_sort(a, b, n, into_b, most_depth(n), [low, tables](K* from, K* other, int64_t count, bool into_other) {
      sort_by_digits(from, other, count, low, varying_from(from, count, low), into_other, tables);
    });
}

// Sorts n integers of `a`, fewer than 2^32; the result is in `b` if into_b, else in `a`.
template <class K>
HWY_NOINLINE void sort_block(K* a, K* b, int64_t n, int low, bool into_b, uint32_t* tables) {
  constexpr int64_t short_block = 32, few_for_digits = 1024;
  const bool is_short = !has_vector_sort<K> && n <= short_block;
  if (is_short) insertion_sort(a, n);
  if (has_vector_sort<K> && n <= few_for_digits) return sort_by_vectors(a, b, n, low, into_b, tables);
  const K varying = is_short ? K{0} : varying_from(a, n, low);
  if (varying == 0) {
    if (into_b) memcpy(b, a, static_cast<size_t>(n) * sizeof(K));
  } else if (has_vector_sort<K> && Digits(varying, low).count > static_cast<int>(sizeof(K) / 4)) {
    sort_by_vectors(a, b, n, low, into_b, tables);
  } else {
    sort_by_digits(a, b, n, low, varying, into_b, tables);
  }
}

// A part of an array that is sorted by all threads; it may lie in the second array.
struct LongRange {
  int64_t first, count;
  bool in_b;
};
// Arrays above this length are distributed; those of one array are disjoint, and so fewer than most_long_ranges.
constexpr int64_t most_long_ranges = 32;
inline int64_t long_range_of(int64_t n) { return larger(2 * Parts::least, n / (most_long_ranges - 1) + 1); }

// Memory for sort_long, apart from the two arrays.
template <class K>
struct LongSortMemory {
  Distribution distribution;
  K* varying;         // of each part
  LongRange* ranges;  // yet to be sorted by all threads
  explicit LongSortMemory(ScratchArena& scratch)
      : distribution(scratch),
        varying(scratch.array<K>(Parts::most)),
        ranges(scratch.array<LongRange>(most_long_ranges)) {}
  K all_varying(const Parts& parts) const {
    K all = 0;
    for (int64_t i = 0; i < parts.count; ++i) all = static_cast<K>(all | varying[i]);
    return all;
  }
};
// The bits in which the integers differ, found by all threads.
template <class K>
HWY_NOINLINE fe_error* varying_bits(const Call& call, const K* a, int64_t n, const LongSortMemory<K>& memory,
                                    K& varying) {
  const Parts parts(call, n);
  fe_error* const error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      memory.varying[i] = varying_bits(a + parts.first(i), parts.first(i + 1) - parts.first(i), a[0]);
  });
  varying = memory.all_varying(parts);
  return error;
}

// Sorts the buckets of at most `long_range` integers of `a`, each by one thread, into `b` if into_b, and calls
// finish(first, count) after each.
template <class K, class Finish>
fe_error* sort_buckets(const Call& call, const Distribution& distribution, K* a, K* b, bool into_b, int low,
                       int64_t long_range, Finish finish) {
  return parallel_with_local(call, distribution.buckets, 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = distribution.first[i], count = distribution.first[i + 1] - first;
      if (count == 0 || count > long_range) continue;
      sort_block(a + first, b + first, count, low, into_b, reinterpret_cast<uint32_t*>(local));
      finish(first, count);
    }
    return nullptr;
  });
}
// Writes the other buckets, whose first integer is at `start`; returns how many there are.
inline int64_t list_long_buckets(const Distribution& distribution, int64_t start, int64_t long_range, bool in_b,
                                 LongRange* to) {
  int64_t found = 0;
  for (int64_t i = 0; i < distribution.buckets; ++i) {
    const int64_t first = distribution.first[i], count = distribution.first[i + 1] - first;
    if (count > long_range) to[found++] = {start + first, count, in_b};
  }
  return found;
}

// Sorts the `waiting` ranges in the memory, of arrays of n integers, by all threads; the results are in `a`.
template <class K>
HWY_NOINLINE fe_error* sort_ranges(const Call& call, K* a, K* b, int64_t n, int low, LongSortMemory<K>& memory,
                                   int64_t waiting) {
  const int64_t long_range = long_range_of(n);
  Distribution& distribution = memory.distribution;
  while (waiting > 0) {
    const LongRange range = memory.ranges[--waiting];
    K* const from = (range.in_b ? b : a) + range.first;
    K* const to = (range.in_b ? a : b) + range.first;
    const Parts parts(call, range.count);
    K varying = 0;
    if (fe_error* const error = varying_bits(call, from, range.count, memory, varying)) return error;
    varying = static_cast<K>(varying >> low << low);
    if (varying == 0) {
      if (range.in_b) memcpy(to, from, static_cast<size_t>(range.count) * sizeof(K));
      continue;
    }
    const Bins<K> bins = bins_of(from[0], varying, low);
    const GivenKeys<K> key_at{from};
    fe_error* error = distribution.count(call, parts, bins, key_at);
    if (error == nullptr) error = distribution.move(call, parts, bins, key_at, OnlyKey(), to);
    if (error == nullptr) error = sort_buckets(call, distribution, to, from, !range.in_b, low, long_range, Nothing());
    if (error != nullptr) return error;
    waiting += list_long_buckets(distribution, range.first, long_range, !range.in_b, memory.ranges + waiting);
  }
  return nullptr;
}

// Sorts n integers, fewer than 2^32, of `b` if in_b, else of `a`, by all threads; the result is in `a`. Each thread
// needs block_tables of local memory.
template <class K>
fe_error* sort_long(const Call& call, K* a, K* b, int64_t n, int low, LongSortMemory<K>& memory, bool in_b = false) {
  memory.ranges[0] = {0, n, in_b};
  return sort_ranges(call, a, b, n, low, memory, 1);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
