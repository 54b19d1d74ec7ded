// Sorts elements by sorting their keys (sort_keys.h), and restores what the keys do not tell: the signs of zeros, and
// which NaN a NaN is. These are copied from the elements in the order in which they lie there.
#pragma once

#include "radix_sort.h"
#include "sort_keys.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

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
template <class Key>
int64_t count_below(const Key* sorted, int64_t n, Key key, bool or_equal) {
  int64_t first = 0;
  while (n > 0) {
    const int64_t half = n / 2;
    const Key middle = sorted[first + half];
    const bool is_below = or_equal ? middle <= key : middle < key;
    first = is_below ? first + half + 1 : first;
    n = is_below ? n - half - 1 : half;
  }
  return first;
}

// The places of the elements with a certain key in a sorted array.
struct Places {
  int64_t next, end;
  template <class Key>
  Places(const Key* sorted, int64_t n, Key key)
      : next(count_below(sorted, n, key, false)), end(count_below(sorted, n, key, true)) {}
};
// The places of the elements that keys do not tell apart.
template <class T>
struct LostPlaces {
  Places zeros, nans;
  LostPlaces(const KeyOf<T>* sorted, int64_t n, KeyOf<T> flip)
      : zeros(sorted, n, static_cast<KeyOf<T>>(Keys<T>::zero ^ flip)), nans(sorted, n, static_cast<KeyOf<T>>(~flip)) {}
};

// The bounds of the places hold even if the elements are overwritten meanwhile.
template <class T>
void restore(const T* x, int64_t n, LostPlaces<T> places, T* y) {
  for (int64_t i = 0; i < n; ++i) {
    const KeyOf<T> key = Keys<T>::of(x[i]);
    if (key == Keys<T>::zero && places.zeros.next < places.zeros.end) y[places.zeros.next++] = x[i];
    if (Keys<T>::is_nan(key) && places.nans.next < places.nans.end) y[places.nans.next++] = x[i];
  }
}

template <class T>
struct KeyBlockMemory {
  uint32_t* tables;
  KeyOf<T>*a, *b;
  KeyBlockMemory(Scratch& scratch, int64_t n)
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
    if (any_lost) restore(x, n, LostPlaces<T>(memory.a, n, flip), y);
}

// Keys that differ only in their lowest 16 bits are counted instead of sorted, by few threads because of the memory.
constexpr int counted_bits = 16, most_counting_parts = 8;
constexpr int64_t counted_keys = int64_t{1} << counted_bits;

template <class T>
struct LongKeyMemory {
  KeyOf<T>* other;
  LongSortMemory<KeyOf<T>> sorting;
  uint8_t* lost;     // of each part
  uint32_t* counts;  // of each part and key
  LongKeyMemory(Scratch& scratch, int64_t n)
      : other(scratch.array<KeyOf<T>>(8 * sizeof(T) <= counted_bits ? 0 : n)),
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
    int64_t key = count_below(starts, limit, static_cast<uint32_t>(begin), true) - 1;
    for (int64_t i = begin; i < end; ++key) {
      const int64_t stop = key + 1 < limit ? smaller(end, starts[key + 1]) : end;
      for (; i < stop; ++i) keys[i] = static_cast<KeyOf<T>>(base | static_cast<KeyOf<T>>(key));
    }
  });
}

// y = x sorted, by all threads; n is less than 2^32. Each thread needs block_tables of local memory.
template <class T>
fe_error* sort_elements(const Call& call, const T* x, int64_t n, KeyOf<T> flip, T* y, LongKeyMemory<T>& memory) {
  KeyOf<T>* const keys = reinterpret_cast<KeyOf<T>*>(y);
  const Parts parts(n);
  const KeyOf<T> first = static_cast<KeyOf<T>>(Keys<T>::of(x[0]) ^ flip);
  fe_error* error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      memory.lost[k] = write_keys(x + parts.first(k), parts.first(k + 1) - parts.first(k), flip, keys + parts.first(k),
                                  first, memory.sorting.varying[k]);
  });
  if (error != nullptr) return error;
  bool any_lost = false;
  for (int64_t k = 0; k < parts.count; ++k) any_lost |= memory.lost[k] != 0;
  const KeyOf<T> varying = memory.sorting.all_varying(parts);
  const int bits = varying == 0 ? 0 : highest_bit(varying) + 1;
  if (bits <= counted_bits) {
    const KeyOf<T> low_bits = static_cast<KeyOf<T>>((uint64_t{1} << bits) - 1);
    error = count_keys(call, keys, n, static_cast<KeyOf<T>>(first & ~low_bits), int64_t{1} << bits, memory);
  } else if constexpr (8 * sizeof(T) > counted_bits) {
    error = sort_long(call, keys, memory.other, n, 0, varying, memory.sorting);
  }
  if (error != nullptr) return error;
  if constexpr (Keys<T>::exact) {
    if (Keys<T>::flip == flip) return nullptr;  // the keys are the elements
  }
  const auto write = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T element = Keys<T>::element(static_cast<KeyOf<T>>(keys[i] ^ flip));
      __builtin_memcpy(y + i, &element, sizeof element);  // in the place of a key, which has another type
    }
  };
  if constexpr (Keys<T>::exact) {
    return parallel(call, n, Parts::least, write);
  } else {
    const LostPlaces<T> places(keys, n, flip);
    error = parallel(call, n, Parts::least, write);
    if (error == nullptr && any_lost) restore(x, n, places, y);
    return error;
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
