// Sorts unsigned integers by their bits from `low` on, with a second array of the same size. The bits below `low` must
// already ascend among integers that are equal in the others.
//
// A long array is distributed into buckets by the highest 8 bits that are not all equal, by all threads, each of which
// counts and moves parts of it. A bucket that fits in the cache is sorted by one thread: by vectors where they are wide
// enough, else from the lowest 8 bits to the highest, or in turn by the highest.
#pragma once

#include "vector_sort.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int digit_bits = 8;
constexpr int64_t bucket_count = int64_t{1} << digit_bits;
constexpr int lowest_first_digits = 3;  // a block with more digits is distributed by its highest one
constexpr int64_t block_tables = (8 + lowest_first_digits) * bucket_count;  // uint32_t entries that sort_block needs

template <class K>
HWY_INLINE int64_t digit_of(K key, int shift) {
  return static_cast<int64_t>(key >> shift & static_cast<K>(bucket_count - 1));
}

template <class K>
constexpr int highest_bit(K x) {
  return 63 - __builtin_clzll(static_cast<unsigned long long>(x));
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

// Sorts n integers of `a`, fewer than 2^32; the result is in `b` if into_b, else in `a`.
template <class K>
void sort_block(K* a, K* b, int64_t n, int low, bool into_b, uint32_t* tables) {
  constexpr int64_t short_block = 32, few_for_digits = 1024;
  const auto finish = [&](const K* from) {
    K* const to = into_b ? b : a;
    if (from != to) memcpy(to, from, static_cast<size_t>(n) * sizeof(K));
  };
  const auto sort_by_vectors = [&] {
    if constexpr (has_vector_sort<K>) return vector_sort(a, b, n, most_depth(n));
    return false;
  };
  if (n <= short_block && !has_vector_sort<K>) {
    insertion_sort(a, n);
    return finish(a);
  }
  if (n <= few_for_digits && sort_by_vectors()) return finish(a);
  const K varying = static_cast<K>(varying_bits(a, n, a[0]) >> low << low);
  if (varying == 0) return finish(a);
  int shifts[8], count = 0;
  for (int shift = low; shift < static_cast<int>(8 * sizeof(K)); shift += digit_bits)
    if (digit_of(varying, shift) != 0) shifts[count++] = shift;
  if (count > static_cast<int>(sizeof(K) / 4) && n > few_for_digits && sort_by_vectors()) return finish(a);
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
    for (int k = 0; k < count; ++k) ++tables[k * bucket_count + digit_of(a[i], shifts[k])];
  for (int k = 0; k < count; ++k) {
    to_starts(tables + k * bucket_count);
    move_to_buckets(k % 2 == 0 ? a : b, n, shifts[k], tables + k * bucket_count, k % 2 == 0 ? b : a);
  }
  finish(count % 2 == 0 ? a : b);
}

// The parts of an array that all threads work on.
struct Parts {
  static constexpr int64_t least = int64_t{1} << 16, most = 64;
  int64_t n, count;
  explicit Parts(int64_t length) : n(length), count(larger(1, smaller(most, length / least))) {}
  int64_t first(int64_t part) const { return n / count * part + smaller(part, n % count); }
};

// Memory for sort_long, apart from the two arrays.
template <class K>
struct LongSortMemory {
  static constexpr int64_t most_ranges = 32;
  uint32_t* counts;  // of each part and bucket
  K* varying;        // of each part
  struct Range {
    int64_t first, count;
    bool in_b;
  };
  Range* ranges;  // yet to be sorted by all threads
  explicit LongSortMemory(Scratch& scratch)
      : counts(scratch.array<uint32_t>(Parts::most * bucket_count)),
        varying(scratch.array<K>(Parts::most)),
        ranges(scratch.array<Range>(most_ranges)) {}
  K all_varying(const Parts& parts) const {
    K all = 0;
    for (int64_t i = 0; i < parts.count; ++i) all = static_cast<K>(all | varying[i]);
    return all;
  }
};

// The bits in which the integers differ, found by all threads.
template <class K>
fe_error* varying_bits(const Call& call, const K* a, int64_t n, const LongSortMemory<K>& memory, K& varying) {
  const Parts parts(n);
  fe_error* const error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      memory.varying[i] = varying_bits(a + parts.first(i), parts.first(i + 1) - parts.first(i), a[0]);
  });
  varying = memory.all_varying(parts);
  return error;
}

// Sorts n integers of `a`, fewer than 2^32, by all threads. `varying` has at least the bits in which they differ. Each
// thread needs block_tables of local memory.
template <class K>
fe_error* sort_long(const Call& call, K* a, K* b, int64_t n, int low, K varying, const LongSortMemory<K>& memory) {
  using Range = typename LongSortMemory<K>::Range;
  // Ranges above this length are disjoint, so that there are fewer than most_ranges of them.
  const int64_t long_range = larger(2 * Parts::least, n / (LongSortMemory<K>::most_ranges - 1) + 1);
  int64_t waiting = 0;
  memory.ranges[waiting++] = {0, n, false};
  bool is_first = true;
  while (waiting > 0) {
    const Range range = memory.ranges[--waiting];
    K* const from = (range.in_b ? b : a) + range.first;
    K* const to = (range.in_b ? a : b) + range.first;
    const Parts parts(range.count);
    fe_error* error = nullptr;
    if (!is_first) error = varying_bits(call, from, range.count, memory, varying);
    if (error != nullptr) return error;
    is_first = false;
    varying = static_cast<K>(varying >> low << low);
    if (varying == 0) {
      if (range.in_b) memcpy(to, from, static_cast<size_t>(range.count) * sizeof(K));
      continue;
    }
    const int shift = static_cast<int>(larger(low, highest_bit(varying) - digit_bits + 1));
    error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        uint32_t* const counts = memory.counts + i * bucket_count;
        memset(counts, 0, bucket_count * sizeof(uint32_t));
        for (int64_t k = parts.first(i); k < parts.first(i + 1); ++k) ++counts[digit_of(from[k], shift)];
      }
    });
    if (error != nullptr) return error;
    uint32_t start = 0;
    for (int64_t bucket = 0; bucket < bucket_count; ++bucket)
      for (int64_t i = 0; i < parts.count; ++i) {
        uint32_t& place = memory.counts[i * bucket_count + bucket];
        const uint32_t count = place;
        place = start;
        start += count;
      }
    error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        move_to_buckets(from + parts.first(i), parts.first(i + 1) - parts.first(i), shift,
                        memory.counts + i * bucket_count, to);
    });
    if (error != nullptr) return error;
    // The places of the last part are now the ends of the buckets.
    const uint32_t* const ends = memory.counts + (parts.count - 1) * bucket_count;
    const auto first_of = [&](int64_t bucket) { return bucket == 0 ? int64_t{0} : int64_t{ends[bucket - 1]}; };
    error = parallel_with_local(call, bucket_count, 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = first_of(i), count = ends[i] - first;
        if (count > 0 && count <= long_range)
          sort_block(to + first, from + first, count, low, !range.in_b, reinterpret_cast<uint32_t*>(local));
      }
      return nullptr;
    });
    if (error != nullptr) return error;
    for (int64_t i = 0; i < bucket_count; ++i)
      if (const int64_t first = first_of(i), count = ends[i] - first; count > long_range)
        memory.ranges[waiting++] = {range.first + first, count, !range.in_b};
  }
  return nullptr;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
