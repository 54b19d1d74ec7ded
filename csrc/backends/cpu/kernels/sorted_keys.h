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

// Narrow keys are counted instead of sorted, by few threads if there are many keys.
template <class T>
constexpr bool is_counted = sizeof(T) <= 2;
template <class T>
constexpr int64_t counted_keys = is_counted<T> ? int64_t{1} << (8 * sizeof(T)) : 0;
template <class T>
constexpr int64_t most_counting_parts = sizeof(T) == 1 ? Parts::most : 8;

template <class T>
struct LongKeyMemory {
  KeyOf<T>* other;
  LongSortMemory<KeyOf<T>> sorting;
  uint8_t* lost;     // of each part
  uint32_t* counts;  // of each part and key
  LongKeyMemory(Scratch& scratch, int64_t n)
      : other(scratch.array<KeyOf<T>>(is_counted<T> ? 0 : n)),
        sorting(scratch),
        lost(scratch.array<uint8_t>(Parts::most)),
        counts(scratch.array<uint32_t>(counted_keys<T> * most_counting_parts<T>)) {}
};

// Writes the sorted keys of x by counting them; `lost` is whether an element is lost.
template <class T>
fe_error* count_keys(const Call& call, const T* x, int64_t n, KeyOf<T> flip, KeyOf<T>* keys,
                     const LongKeyMemory<T>& memory, bool& lost) {
  constexpr int64_t key_count = counted_keys<T>;
  const int64_t parts = larger(1, smaller(most_counting_parts<T>, n / Parts::least));
  const auto first_of = [&](int64_t part) { return n / parts * part + smaller(part, n % parts); };
  fe_error* const error = parallel(call, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      uint32_t* const counts = memory.counts + k * key_count;
      memset(counts, 0, static_cast<size_t>(key_count) * sizeof(uint32_t));
      bool any_lost = false;
      for (int64_t i = first_of(k); i < first_of(k + 1); ++i) {
        const KeyOf<T> key = Keys<T>::of(x[i]);
        any_lost |= Keys<T>::is_lost(x[i]);
        ++counts[static_cast<KeyOf<T>>(key ^ flip)];
      }
      memory.lost[k] = any_lost;
    }
  });
  if (error != nullptr) return error;
  lost = false;
  for (int64_t k = 0; k < parts; ++k) lost |= memory.lost[k] != 0;
  uint32_t* const starts = memory.counts;
  uint32_t start = 0;
  for (int64_t key = 0; key < key_count; ++key) {
    uint32_t count = 0;
    for (int64_t k = 0; k < parts; ++k) count += memory.counts[k * key_count + key];
    starts[key] = start;
    start += count;
  }
  const uint32_t total = start;
  return parallel(call, n, Parts::least, [&](int64_t begin, int64_t end) {
    int64_t key = count_below(starts, key_count, static_cast<uint32_t>(begin), true) - 1;
    for (int64_t i = begin; i < end; ++key) {
      const int64_t stop = smaller(end, key + 1 < key_count ? starts[key + 1] : total);
      for (; i < stop; ++i) keys[i] = static_cast<KeyOf<T>>(key);
    }
  });
}

// y = x sorted, by all threads; n is less than 2^32. Each thread needs block_tables of local memory.
template <class T>
fe_error* sort_elements(const Call& call, const T* x, int64_t n, KeyOf<T> flip, T* y, const LongKeyMemory<T>& memory) {
  KeyOf<T>* const keys = reinterpret_cast<KeyOf<T>*>(y);
  bool any_lost = false;
  fe_error* error = nullptr;
  if constexpr (is_counted<T>) {
    error = count_keys(call, x, n, flip, keys, memory, any_lost);
  } else {
    const Parts parts(n);
    const KeyOf<T> first = static_cast<KeyOf<T>>(Keys<T>::of(x[0]) ^ flip);
    error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k)
        memory.lost[k] = write_keys(x + parts.first(k), parts.first(k + 1) - parts.first(k), flip,
                                    keys + parts.first(k), first, memory.sorting.varying[k]);
    });
    for (int64_t k = 0; k < parts.count; ++k) any_lost |= memory.lost[k] != 0;
    if (error == nullptr)
      error = sort_long(call, keys, memory.other, n, 0, memory.sorting.all_varying(parts), memory.sorting);
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
