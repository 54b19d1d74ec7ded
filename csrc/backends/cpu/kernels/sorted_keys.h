// Sorts elements by sorting their keys (sort_keys.h), and restores the signs of zeros and the payloads of NaNs, which
// keys lose. These are copied from the elements in the order in which they lie there.
#pragma once

#include "radix_sort.h"
#include "sort_keys.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
HWY_INLINE KeyOf<T> key_of(T x, KeyOf<T> flip) {
  return static_cast<KeyOf<T>>(Keys<T>::of(x) ^ flip);
}

// The keys of elements, and whether any of these is lost.
template <class T>
struct KeysAndLost {
  const T* x;
  KeyOf<T> flip, lost = 0;
  HWY_INLINE KeyOf<T> operator()(int64_t i) {
    lost = static_cast<KeyOf<T>>(lost | static_cast<KeyOf<T>>(Keys<T>::is_lost(x[i])));
    return key_of(x[i], flip);
  }
};

// Writes the keys; returns whether any element is lost. `varying` are the bits in which the keys differ from `first`.
template <class T>
bool write_keys(const T* x, int64_t n, KeyOf<T> flip, KeyOf<T>* keys, KeyOf<T> first, KeyOf<T>& varying) {
  KeyOf<T> lost = 0, differing = 0;
  for (int64_t i = 0; i < n; ++i) {
    const KeyOf<T> key = Keys<T>::of(x[i]);
    lost = static_cast<KeyOf<T>>(lost | static_cast<KeyOf<T>>(Keys<T>::is_lost(x[i])));
    keys[i] = static_cast<KeyOf<T>>(key ^ flip);
    differing = static_cast<KeyOf<T>>(differing | (keys[i] ^ first));
  }
  varying = differing;
  return lost != 0;
}

// The number of sorted keys below a key, or not above it.
template <class KeyAt, class Key>
int64_t count_below(KeyAt key_at, int64_t n, Key key, bool or_equal) {
  int64_t first = 0;
  while (n > 0) {
    const int64_t half = n / 2;
    const Key middle = key_at(first + half);
    const bool is_below = or_equal ? middle <= key : middle < key;
    first = is_below ? first + half + 1 : first;
    n = is_below ? n - half - 1 : half;
  }
  return first;
}

// The places of the elements with a certain key in an array that is sorted by key_at(i).
struct Places {
  int64_t next, end;
  template <class KeyAt, class Key>
  Places(KeyAt key_at, int64_t n, Key key)
      : next(count_below(key_at, n, key, false)), end(count_below(key_at, n, key, true)) {}
};

// Replaces the elements of y, the sorted ones of x, that keys do not tell apart. The bounds of the places hold even if
// x is overwritten meanwhile.
template <class T>
void restore(const T* x, int64_t n, KeyOf<T> flip, T* y) {
  using Key = KeyOf<T>;
  constexpr int64_t batch = 64;
  const auto key_at = [y, flip](int64_t i) { return key_of(y[i], flip); };
  Places zeros(key_at, n, static_cast<Key>(Keys<T>::zero ^ flip)), nans(key_at, n, static_cast<Key>(~flip));
  for (int64_t first = 0; first < n; first += batch) {
    const int64_t end = smaller(n, first + batch);
    Key found = 0;
    for (int64_t i = first; i < end; ++i) {
      const Key key = Keys<T>::of(x[i]);
      found = static_cast<Key>(found | static_cast<Key>((key == Keys<T>::zero) | Keys<T>::is_nan(key)));
    }
    if (found == 0) continue;
    for (int64_t i = first; i < end; ++i) {
      const Key key = Keys<T>::of(x[i]);
      if (key == Keys<T>::zero && zeros.next < zeros.end) y[zeros.next++] = x[i];
      if (Keys<T>::is_nan(key) && nans.next < nans.end) y[nans.next++] = x[i];
    }
  }
}

template <class T>
struct KeyBlockMemory {
  uint32_t* tables;
  KeyOf<T>*a, *b;
  KeyBlockMemory(ScratchArena& scratch, int64_t n)
      : tables(scratch.array<uint32_t>(block_tables)), a(scratch.array<KeyOf<T>>(n)), b(scratch.array<KeyOf<T>>(n)) {}
};

// y = x sorted, by one thread.
template <class T>
void sort_block_of_elements(const T* x, int64_t n, KeyOf<T> flip, T* y, const KeyBlockMemory<T>& memory) {
  KeyOf<T> varying;
  const bool any_lost = write_keys(x, n, flip, memory.a, KeyOf<T>{0}, varying);
  sort_block(memory.a, memory.b, n, 0, false, memory.tables);
  for (int64_t i = 0; i < n; ++i) y[i] = Keys<T>::element(static_cast<KeyOf<T>>(memory.a[i] ^ flip));
  if constexpr (!Keys<T>::exact)
    if (any_lost) restore(x, n, flip, y);
}

// Keys that differ only in their lowest 16 bits are counted instead of sorted, by few threads because of the memory.
constexpr int counted_bits = 16, most_counting_parts = 8;
constexpr int64_t counted_keys = int64_t{1} << counted_bits;

template <class T>
struct LongKeyMemory {
  KeyOf<T>* other;  // with space for elements that change after they were counted
  LongSortMemory<KeyOf<T>> sorting;
  uint8_t* lost;     // of each part
  uint32_t* counts;  // of each part and key
  LongKeyMemory(ScratchArena& scratch, int64_t n)
      : other(scratch.array<KeyOf<T>>(8 * sizeof(T) <= counted_bits ? 0 : n + Parts::longest(n))),
        sorting(scratch),
        lost(scratch.array<uint8_t>(Parts::most)),
        counts(scratch.array<uint32_t>(most_counting_parts * counted_keys)) {}
};

// Sorts keys that differ from `base` only in their lowest 16 bits, which are zero in `base`, and below `limit`.
template <class T>
fe_error* count_keys(const Call& call, KeyOf<T>* keys, int64_t n, KeyOf<T> base, int64_t limit,
                     const LongKeyMemory<T>& memory) {
  const int64_t parts = larger(1, smaller(most_counting_parts, n / Parts::least));
  const auto first_of = [&](int64_t part) { return n / parts * part + smaller(part, n % parts); };
  fe_error* const error = parallel(call, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      uint32_t* const counts = memory.counts + k * counted_keys;
      memset(counts, 0, static_cast<size_t>(limit) * sizeof(uint32_t));
      for (int64_t i = first_of(k); i < first_of(k + 1); ++i) ++counts[static_cast<KeyOf<T>>(keys[i] ^ base)];
    }
  });
  if (error != nullptr) return error;
  uint32_t* const starts = memory.counts;
  uint32_t start = 0;
  for (int64_t key = 0; key < limit; ++key) {
    uint32_t count = 0;
    for (int64_t k = 0; k < parts; ++k) count += memory.counts[k * counted_keys + key];
    starts[key] = start;
    start += count;
  }
  return parallel(call, n, Parts::least, [&](int64_t begin, int64_t end) {
    const auto start_at = [starts](int64_t i) { return starts[i]; };
    int64_t key = count_below(start_at, limit, static_cast<uint32_t>(begin), true) - 1;
    for (int64_t i = begin; i < end; ++key) {
      const int64_t stop = key + 1 < limit ? smaller(end, starts[key + 1]) : end;
      for (; i < stop; ++i) keys[i] = static_cast<KeyOf<T>>(base | static_cast<KeyOf<T>>(key));
    }
  });
}

// Replaces sorted keys by their elements, in the same memory.
template <class T>
void write_elements(const KeyOf<T>* keys, int64_t begin, int64_t end, KeyOf<T> flip, T* y) {
  if constexpr (Keys<T>::exact)
    if (flip == Keys<T>::flip) return;  // the keys are the elements
  for (int64_t i = begin; i < end; ++i) {
    const T element = Keys<T>::element(static_cast<KeyOf<T>>(keys[i] ^ flip));
    __builtin_memcpy(y + i, &element, sizeof element);  // in the place of a key, which has another type
  }
}

// Sorts keys by counting, if they differ in few bits; else `is_done` is false.
template <class T>
fe_error* sort_by_counts(const Call& call, const T* x, const Parts& parts, KeyOf<T> flip, T* y,
                         LongKeyMemory<T>& memory, bool& is_done) {
  KeyOf<T>* const keys = reinterpret_cast<KeyOf<T>*>(y);
  const KeyOf<T> first = key_of(x[0], flip);
  fe_error* error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      memory.lost[k] = write_keys(x + parts.first(k), parts.first(k + 1) - parts.first(k), flip, keys + parts.first(k),
                                  first, memory.sorting.varying[k]);
  });
  const KeyOf<T> varying = memory.sorting.all_varying(parts);
  const int bits = varying == 0 ? 0 : highest_bit(varying) + 1;
  is_done = error != nullptr || bits <= counted_bits;
  if (error != nullptr || !is_done) return error;
  const KeyOf<T> low_bits = static_cast<KeyOf<T>>((uint64_t{1} << bits) - 1);
  error = count_keys(call, keys, parts.n, static_cast<KeyOf<T>>(first & ~low_bits), int64_t{1} << bits, memory);
  if (error != nullptr) return error;
  return parallel(call, parts.n, Parts::least,
                  [&](int64_t begin, int64_t end) { write_elements(keys, begin, end, flip, y); });
}

// Sorts elements by distributing their keys. Wherever the bins are, the keys of a bucket are greater than those before.
template <class T>
fe_error* sort_by_buckets(const Call& call, const T* x, const Parts& parts, KeyOf<T> flip, const Bins<KeyOf<T>>& bins,
                          T* y, LongKeyMemory<T>& memory) {
  KeyOf<T>*const keys = reinterpret_cast<KeyOf<T>*>(y), *const other = memory.other;
  Distribution& distribution = memory.sorting.distribution;
  const KeysAndLost<T> key_at{x, flip};
  fe_error* error = distribution.count(call, parts, bins, key_at,
                                       [&](int64_t k, const KeysAndLost<T>& of) { memory.lost[k] = of.lost != 0; });
  if (error == nullptr) error = distribution.move(call, parts, bins, key_at, OnlyKey(), other);
  const int64_t long_range = long_range_of(parts.n);
  if (error == nullptr)
    error = sort_buckets(call, distribution, other, keys, true, 0, long_range,
                         [&](int64_t first, int64_t count) { write_elements(keys, first, first + count, flip, y); });
  if (error != nullptr) return error;
  LongRange* const ranges = memory.sorting.ranges;
  const int64_t count = list_long_buckets(distribution, 0, long_range, true, ranges);
  if (count == 0) return nullptr;
  LongRange written[most_long_ranges];
  memcpy(written, ranges, sizeof written);
  error = sort_ranges(call, keys, other, parts.n, 0, memory.sorting, count);
  for (int64_t i = 0; error == nullptr && i < count; ++i)
    error = parallel(call, written[i].count, Parts::least, [&](int64_t begin, int64_t end) {
      write_elements(keys, written[i].first + begin, written[i].first + end, flip, y);
    });
  return error;
}

// The sorted keys of elements at regular distances.
template <class T>
struct SampledKeys {
  static constexpr int64_t count = 1024, outside = count / 128;
  const KeyOf<T>* keys;
  SampledKeys(const Call& call, const T* x, int64_t n, KeyOf<T> flip, const LongKeyMemory<T>& memory)
      : keys(memory.other) {
    for (int64_t i = 0; i < count; ++i) memory.other[i] = key_of(x[i * n / count], flip);
    sort_block(memory.other, memory.other + count, count, 0, false, reinterpret_cast<uint32_t*>(call.local.part(0)));
  }
  bool differ_in_few_bits() const { return (keys[count - 1] ^ keys[0]) >> counted_bits == 0; }
  // Bins of most keys: few keys far away from the others leave these their bins.
  Bins<KeyOf<T>> bins() const { return Bins<KeyOf<T>>(keys[outside], keys[count - 1 - outside], 0); }
};

// With vectors of many lanes, one thread partitions an array that fits in a large cache faster than it distributes it.
template <class Key>
constexpr int64_t most_without_buckets = has_vector_sort<Key>&& lanes_of<Key> >= 16 ? int64_t{1} << 22 : 0;

template <class T>
void sort_without_buckets(const Call& call, const T* x, int64_t n, KeyOf<T> flip, T* y, LongKeyMemory<T>& memory) {
  KeyOf<T>*const keys = reinterpret_cast<KeyOf<T>*>(y), *const other = memory.other;
  memory.lost[0] = write_keys(x, n, flip, other, KeyOf<T>{0}, memory.sorting.varying[0]);
  sort_block(other, keys, n, 0, true, reinterpret_cast<uint32_t*>(call.local.part(0)));
  write_elements(keys, 0, n, flip, y);
}

// Sorts keys of more than 16 bits.
template <class T>
fe_error* sort_wide_keys(const Call& call, const T* x, Parts& parts, KeyOf<T> flip, T* y, LongKeyMemory<T>& memory) {
  using Key = KeyOf<T>;
  const SampledKeys<T> samples(call, x, parts.n, flip, memory);
  const Bins<Key> bins = samples.bins();
  if (samples.differ_in_few_bits()) {
    bool is_done = false;
    fe_error* const error = sort_by_counts(call, x, parts, flip, y, memory, is_done);
    if (is_done) return error;
  }
  if constexpr (most_without_buckets<Key> != 0)
    if (parts.n <= most_without_buckets<Key> && thread_count(call) == 1) {
      parts.count = 1;
      sort_without_buckets(call, x, parts.n, flip, y, memory);
      return nullptr;
    }
  return sort_by_buckets(call, x, parts, flip, bins, y, memory);
}

// y = x sorted, by all threads; n is less than 2^32. Each thread needs block_tables of local memory.
template <class T>
fe_error* sort_elements(const Call& call, const T* x, int64_t n, KeyOf<T> flip, T* y, LongKeyMemory<T>& memory) {
  Parts parts(call, n);
  fe_error* error = nullptr;
  if constexpr (8 * sizeof(T) > counted_bits) {
    error = sort_wide_keys(call, x, parts, flip, y, memory);
  } else {
    bool is_done = false;
    error = sort_by_counts(call, x, parts, flip, y, memory, is_done);
  }
  if (error != nullptr) return error;
  if constexpr (!Keys<T>::exact) {
    bool any_lost = false;
    for (int64_t k = 0; k < parts.count; ++k) any_lost |= memory.lost[k] != 0;
    if (any_lost) restore(x, n, flip, y);
  }
  return nullptr;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
