// Sorts unsigned integers by their bits from `low` on, with a second array of the same size. The bits below `low` must
// already ascend among integers that are equal in the others.
//
// A long array is distributed into buckets by all threads, each of which counts and moves parts of it. A bucket that
// fits in the cache is sorted by one thread: by vectors where they are wide enough, else from the lowest 8 bits to the
// highest, or in turn by the highest.
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

// Distribution of an array into buckets by all threads. Elements are counted by the highest 13 bits in which they
// differ; neighbouring counts are then joined to at most 256 buckets of about the same size, because more are slow to
// write to. So the numbers of a few binades, which have equal exponents, still get many buckets.
constexpr int bin_bits = 13;
constexpr int64_t bin_count = int64_t{1} << bin_bits;

struct Distribution {
  int shift = 0;  // of the bins
  int64_t bins = 0, buckets = 0;
  uint32_t* counts;    // of each part and bin
  uint32_t* totals;    // of each bin
  uint32_t* places;    // of each part and bucket
  uint8_t* bucket_of;  // of each bin
  int64_t* first_bin;  // of each bucket, and one more
  int64_t* first;      // the place of each bucket's first element, and one more
  explicit Distribution(Scratch& scratch)
      : counts(scratch.array<uint32_t>(Parts::most * bin_count)),
        totals(scratch.array<uint32_t>(bin_count)),
        places(scratch.array<uint32_t>(Parts::most * bucket_count)),
        bucket_of(scratch.array<uint8_t>(bin_count)),
        first_bin(scratch.array<int64_t>(bucket_count + 1)),
        first(scratch.array<int64_t>(bucket_count + 1)) {}

  // The number of lowest bits in which the keys of a bucket may differ.
  int differing_bits(int64_t bucket) const {
    const auto range = static_cast<uint64_t>(first_bin[bucket] ^ (first_bin[bucket + 1] - 1));
    return shift + (range == 0 ? 0 : highest_bit(range) + 1);
  }

  // Counts the keys, which differ in `varying`, by their bits from `low` on.
  template <class K, class KeyAt>
  fe_error* count(const Call& call, const Parts& parts, K varying, int low, KeyAt key_at) {
    shift = static_cast<int>(larger(low, highest_bit(varying) - bin_bits + 1));
    bins = int64_t{1} << (highest_bit(varying) - shift + 1);
    const K mask = static_cast<K>(bins - 1);
    fe_error* const error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        uint32_t* const found = counts + k * bin_count;
        memset(found, 0, static_cast<size_t>(bins) * sizeof(uint32_t));
        const int bin_shift = shift;
        const int64_t stop = parts.first(k + 1);
        for (int64_t i = parts.first(k); i < stop; ++i) ++found[key_at(i) >> bin_shift & mask];
      }
    });
    if (error == nullptr) join_bins(parts);
    return error;
  }

  // Moves make(i, bucket) for each element to its bucket in `to`.
  template <class KeyAt, class Make, class To>
  fe_error* move(const Call& call, const Parts& parts, KeyAt key_at, Make make, To* to) const {
    using K = decltype(key_at(int64_t{0}));
    const K mask = static_cast<K>(bins - 1);
    return parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
      const int bin_shift = shift;  // these stay in registers
      const uint8_t* const buckets_of_bins = bucket_of;
      To* const target = to;
      for (int64_t k = begin; k < end; ++k) {
        uint32_t* const next = places + k * bucket_count;
        const int64_t stop = parts.first(k + 1);
        for (int64_t i = parts.first(k); i < stop; ++i) {
          const K key = key_at(i);
          const int64_t bucket = buckets_of_bins[key >> bin_shift & mask];
          target[next[bucket]++] = make(key, i, bucket);
        }
      }
    });
  }

 private:
  // Gives each bin a bucket of at most `enough` elements, unless the bin alone has more.
  int64_t assign_buckets(int64_t enough) {
    int64_t bucket = 0, size = 0, place = 0;
    first[0] = first_bin[0] = 0;
    for (int64_t i = 0; i < bins; ++i) {
      const int64_t count = totals[i];
      if (size > 0 && size + count > enough) {
        if (++bucket == bucket_count) return bucket + 1;
        first[bucket] = place;
        first_bin[bucket] = i;
        size = 0;
      }
      size += count;
      place += count;
      bucket_of[i] = static_cast<uint8_t>(bucket);
    }
    first[bucket + 1] = place;
    first_bin[bucket + 1] = bins;
    return bucket + 1;
  }

  void join_bins(const Parts& parts) {
    for (int64_t i = 0; i < bins; ++i) {
      totals[i] = 0;
      for (int64_t k = 0; k < parts.count; ++k) totals[i] += counts[k * bin_count + i];
    }
    // Two neighbouring buckets have more than `enough` elements, so that this ends.
    for (int64_t enough = ceil_div(parts.n, bucket_count - 16); (buckets = assign_buckets(enough)) > bucket_count;)
      enough += enough / 8 + 1;
    memset(places, 0, static_cast<size_t>(parts.count * bucket_count) * sizeof(uint32_t));
    for (int64_t k = 0; k < parts.count; ++k)
      for (int64_t i = 0; i < bins; ++i) places[k * bucket_count + bucket_of[i]] += counts[k * bin_count + i];
    for (int64_t i = 0; i < buckets; ++i) {
      auto start = static_cast<uint32_t>(first[i]);
      for (int64_t k = 0; k < parts.count; ++k) {
        uint32_t& next = places[k * bucket_count + i];
        const uint32_t count = next;
        next = start;
        start += count;
      }
    }
  }
};

// Memory for sort_long, apart from the two arrays.
template <class K>
struct LongSortMemory {
  static constexpr int64_t most_ranges = 32;
  Distribution distribution;
  K* varying;  // of each part
  struct Range {
    int64_t first, count;
    bool in_b;
  };
  Range* ranges;  // yet to be sorted by all threads
  explicit LongSortMemory(Scratch& scratch)
      : distribution(scratch), varying(scratch.array<K>(Parts::most)), ranges(scratch.array<Range>(most_ranges)) {}
  K all_varying(const Parts& parts) const {
    K all = 0;
    for (int64_t i = 0; i < parts.count; ++i) all = static_cast<K>(all | varying[i]);
    return all;
  }
};
// Arrays above this length are distributed; those of one array are disjoint, and so fewer than most_ranges.
inline int64_t long_range_of(int64_t n) { return larger(2 * Parts::least, n / 31 + 1); }

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

// Sorts n integers, fewer than 2^32, of `b` if in_b, else of `a`, by all threads; the result is in `a`. `varying` has
// at least the bits in which they differ. Each thread needs block_tables of local memory.
template <class K>
fe_error* sort_long(const Call& call, K* a, K* b, int64_t n, int low, K varying, LongSortMemory<K>& memory,
                    bool in_b = false) {
  using Range = typename LongSortMemory<K>::Range;
  const int64_t long_range = long_range_of(n);
  Distribution& distribution = memory.distribution;
  int64_t waiting = 0;
  memory.ranges[waiting++] = {0, n, in_b};
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
    const auto key_at = [from](int64_t i) { return from[i]; };
    error = distribution.count(call, parts, varying, low, key_at);
    if (error == nullptr)
      error = distribution.move(
          call, parts, key_at, [](K key, int64_t, int64_t) { return key; }, to);
    if (error != nullptr) return error;
    error =
        parallel_with_local(call, distribution.buckets, 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t first = distribution.first[i], count = distribution.first[i + 1] - first;
            if (count > 0 && count <= long_range)
              sort_block(to + first, from + first, count, low, !range.in_b, reinterpret_cast<uint32_t*>(local));
          }
          return nullptr;
        });
    if (error != nullptr) return error;
    for (int64_t i = 0; i < distribution.buckets; ++i) {
      const int64_t first = distribution.first[i], count = distribution.first[i + 1] - first;
      if (count > long_range) memory.ranges[waiting++] = {range.first + first, count, !range.in_b};
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
