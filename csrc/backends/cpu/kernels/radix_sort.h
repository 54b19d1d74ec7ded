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

// As sort_block, by the digits, which differ in `varying` bits.
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

// The parts of an array that all threads work on: several for each thread, because some may start late.
struct Parts {
  static constexpr int64_t least = int64_t{1} << 15, most = 64;
  int64_t n, count;
  Parts(const Call& call, int64_t length)
      : n(length), count(larger(1, smaller(length / least, smaller(most, 8 * thread_count(call))))) {}
  int64_t first(int64_t part) const { return n / count * part + smaller(part, n % count); }
  // At least the length of a part, for any number of threads.
  static int64_t longest(int64_t n) { return larger(2 * least, ceil_div(n, 8)); }
};

// Distribution of an array into buckets by all threads. Elements are counted in bins, which are equal ranges of keys;
// neighbouring bins are then joined to at most 256 buckets of about the same size, because more are slow to write to.
// So the numbers of a few binades, which have equal exponents, still get many buckets.
constexpr int bin_bits = 13;
constexpr int64_t bin_count = int64_t{1} << bin_bits;

// Keys below the first bin belong to it, and those above the last one to that.
template <class K>
struct Bins {
  K base = 0;
  int shift = 0;
  K last = 0;  // the last bin
  Bins() = default;
  // For keys from `least` to `greatest`, whose bits below `low` do not matter.
  Bins(K least, K greatest, int low) : base(least) {
    const K range = static_cast<K>(greatest - least);
    shift = static_cast<int>(larger(low, range == 0 ? 0 : highest_bit(range) - bin_bits + 1));
    last = static_cast<K>(range >> shift);
  }
  HWY_INLINE K of(K key) const {
    const K above = key > base ? static_cast<K>(key - base) : K{0};
    const K bin = static_cast<K>(above >> shift);
    return bin < last ? bin : last;
  }
};
// The bins of keys that have the bits of `key`, apart from `varying` ones.
template <class K>
Bins<K> bins_of(K key, K varying, int low) {
  const K below = static_cast<K>((K{2} << highest_bit(varying)) - 1);
  return Bins<K>(static_cast<K>(key & ~below), static_cast<K>(key | below), low);
}

template <class K>
struct GivenKeys {
  const K* x;
  HWY_INLINE K operator()(int64_t i) const { return x[i]; }
};

// What follows a part or a bucket.
struct Nothing {
  template <class... Arguments>
  void operator()(const Arguments&...) const {}
};
struct OnlyKey {
  template <class K>
  HWY_INLINE K operator()(K key, int64_t, int64_t) const {
    return key;
  }
};

struct Distribution {
  // Keys whose bins are computed together, by vectors: so few that the CPU loads the next ones meanwhile.
  static constexpr int64_t batch = 64, prefetch_distance = 256;
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

  // The number of lowest bits in which the keys of a bucket may differ, if the bins are those of bins_of().
  template <class K>
  int differing_bits(const Bins<K>& of_keys, int64_t bucket) const {
    const auto range = static_cast<uint64_t>(first_bin[bucket] ^ (first_bin[bucket + 1] - 1));
    return of_keys.shift + (range == 0 ? 0 : highest_bit(range) + 1);
  }

  // Counts the keys key_at(i) of elements key_at.x[i] in the bins. Each part has a copy of key_at; after(part, copy)
  // follows it.
  template <class K, class KeyAt, class After>
  HWY_NOINLINE fe_error* count(const Call& call, const Parts& parts, const Bins<K>& of_keys, KeyAt key_at,
                               After after) {
    bins = static_cast<int64_t>(of_keys.last) + 1;
    fe_error* const error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        uint32_t* const found = counts + k * bin_count;
        memset(found, 0, static_cast<size_t>(bins) * sizeof(uint32_t));
        KeyAt own = key_at;
        for_each_batch(parts, k, of_keys, own, [found](int64_t, K, uint32_t bin) { ++found[bin]; });
        after(k, own);
      }
    });
    if (error == nullptr) join_bins(parts);
    return error;
  }

  template <class K, class KeyAt>
  fe_error* count(const Call& call, const Parts& parts, const Bins<K>& of_keys, KeyAt key_at) {
    return count(call, parts, of_keys, key_at, Nothing());
  }

  // Moves make(key, i, bucket) for each element to its bucket in `to`. If keys change after they were counted, the
  // elements of a part may follow those of the last bucket.
  template <class K, class KeyAt, class Make, class To>
  HWY_NOINLINE fe_error* move(const Call& call, const Parts& parts, const Bins<K>& of_keys, KeyAt key_at, Make make,
                              To* to) const {
    return parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
      const uint8_t* const buckets_of_bins = bucket_of;
      To* const target = to;
      for (int64_t k = begin; k < end; ++k) {
        uint32_t* const next = places + k * bucket_count;
        KeyAt own = key_at;
        for_each_batch(parts, k, of_keys, own, [=](int64_t i, K key, uint32_t bin) {
          const int64_t bucket = buckets_of_bins[bin];
          target[next[bucket]++] = make(key, i, bucket);
        });
      }
    });
  }

 private:
  // Calls f(i, key, bin) for the elements of a part.
  template <class K, class KeyAt, class F>
  static HWY_INLINE void for_each_batch(const Parts& parts, int64_t part, const Bins<K>& of_keys, KeyAt& key_at, F f) {
    const Bins<K> own = of_keys;  // these stay in registers
    const int64_t stop = parts.first(part + 1);
    for (int64_t first = parts.first(part); first < stop; first += batch) {
      K keys[batch];
      uint32_t bin[batch];
      const int64_t many = smaller(batch, stop - first);
      const char* const ahead = reinterpret_cast<const char*>(key_at.x + first + prefetch_distance);
      for (size_t i = 0; i < batch * sizeof key_at.x[0]; i += 64) __builtin_prefetch(ahead + i);
      for (int64_t i = 0; i < many; ++i) {
        keys[i] = key_at(first + i);
        bin[i] = static_cast<uint32_t>(own.of(keys[i]));
      }
      for (int64_t i = 0; i < many; ++i) f(first + i, keys[i], bin[i]);
    }
  }

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

  HWY_NOINLINE void join_bins(const Parts& parts) {
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
  explicit LongSortMemory(Scratch& scratch)
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
