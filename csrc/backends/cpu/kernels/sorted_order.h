// The indices that sort elements, each packed behind 32 bits of its element's key: sorting the packed integers sorts
// the indices, and equal keys keep their order. Wider keys are sorted by the highest 32 bits that are not all equal
// first; then each run of indices whose keys are equal so far is sorted by the next bits.
#pragma once

#include "complex.h"
#include "radix_sort.h"
#include "sort_keys.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t longest_block = int64_t{1} << 16;  // elements that one thread sorts
constexpr int64_t most_indices = int64_t{1} << 32;

// The keys of elements, as words that are compared one after the other. With `flip` the order is descending.
template <class T>
struct KeyWords {
  static constexpr int words = 1;
  static constexpr int bits = 8 * sizeof(KeyOf<T>);
  const T* x;
  KeyOf<T> flip;
  HWY_INLINE uint64_t word(int64_t i, int) const { return static_cast<KeyOf<T>>(Keys<T>::of(x[i]) ^ flip); }
  static HWY_INLINE bool is_nan(uint64_t word) { return Keys<T>::is_nan(static_cast<KeyOf<T>>(word)); }
};
// Complex numbers are ordered by their real parts, then by their imaginary parts; those with a NaN come last.
template <>
struct KeyWords<Complex64> {
  static constexpr int words = 1;
  static constexpr int bits = 64;
  const Complex64* x;
  HWY_INLINE uint64_t word(int64_t i, int) const {
    const uint32_t real = Keys<float>::of(x[i].real), imaginary = Keys<float>::of(x[i].imaginary);
    const bool is_nan = Keys<float>::is_nan(real) || Keys<float>::is_nan(imaginary);
    return is_nan ? ~uint64_t{0} : uint64_t{real} << 32 | imaginary;
  }
  static HWY_INLINE bool is_nan(uint64_t word) { return word == ~uint64_t{0}; }
};
template <>
struct KeyWords<Complex128> {
  static constexpr int words = 2;
  static constexpr int bits = 64;
  const Complex128* x;
  HWY_INLINE uint64_t word(int64_t i, int number) const {
    const uint64_t real = Keys<double>::of(x[i].real), imaginary = Keys<double>::of(x[i].imaginary);
    const bool is_nan = Keys<double>::is_nan(real) || Keys<double>::is_nan(imaginary);
    return is_nan ? ~uint64_t{0} : number == 0 ? real : imaginary;
  }
  static HWY_INLINE bool is_nan(uint64_t word_0) { return word_0 == ~uint64_t{0}; }
};

// The bits of the keys that are compared in one pass, at most 32.
struct Stage {
  int word, shift;
  uint64_t mask;
};
struct Stages {
  Stage list[4];
  int count = 0;
  // `shift` is that of the first stage: no bits differ above its 32.
  Stages(int words, int shift) {
    list[count++] = {0, shift, 0xffffffff};
    if (shift > 0) list[count++] = {0, 0, (uint64_t{1} << shift) - 1};
    if (words == 2) {
      list[count++] = {1, 32, 0xffffffff};
      list[count++] = {1, 0, 0xffffffff};
    }
  }
};

HWY_INLINE int64_t index_in(uint64_t packed) { return static_cast<int64_t>(packed & 0xffffffff); }
template <class Source>
HWY_INLINE uint64_t packed(const Source& source, const Stage& stage, int64_t index) {
  const uint64_t key = source.word(index, stage.word) >> stage.shift & stage.mask;
  return key << 32 | static_cast<uint64_t>(index);
}

inline int64_t end_of_run(const uint64_t* a, int64_t i, int64_t n) {
  const uint64_t key = a[i] >> 32;
  do ++i;
  while (i < n && a[i] >> 32 == key);
  return i;
}

// Sorts a run of indices by the bits of this stage and those after it.
template <class Source>
void sort_run(const Source& source, const Stages& stages, int number, uint64_t* a, uint64_t* b, int64_t n,
              uint32_t* tables);
// Sorts each run of equal packed keys by this stage and those after it.
template <class Source>
void sort_runs_of_block(const Source& source, const Stages& stages, int number, uint64_t* a, uint64_t* b, int64_t n,
                        uint32_t* tables) {
  for (int64_t i = 0; i + 1 < n; ++i) {
    if (a[i] >> 32 != a[i + 1] >> 32) continue;
    const int64_t end = end_of_run(a, i, n);
    sort_run(source, stages, number, a + i, b + i, end - i, tables);
    i = end - 1;
  }
}
template <class Source>
void sort_run(const Source& source, const Stages& stages, int number, uint64_t* a, uint64_t* b, int64_t n,
              uint32_t* tables) {
  for (; n > 1 && number < stages.count; ++number) {
    for (int64_t i = 0; i < n; ++i) a[i] = packed(source, stages.list[number], index_in(a[i]));
    sort_block(a, b, n, 32, false, tables);
    if (a[0] >> 32 == a[n - 1] >> 32) continue;
    if (number + 1 < stages.count) sort_runs_of_block(source, stages, number + 1, a, b, n, tables);
    return;
  }
}

// Writes the packed indices that sort n elements to `a`; n is at most longest_block.
template <class Source>
void order_block(const Source& source, int64_t n, uint64_t* a, uint64_t* b, uint32_t* tables) {
  int shift = 0;
  if constexpr (Source::bits > 32) {
    uint64_t varying = 1;
    for (int64_t i = 0; i < n; ++i) varying |= source.word(i, 0) ^ source.word(0, 0);
    shift = static_cast<int>(larger(0, highest_bit(varying) - 31));
  }
  for (int64_t i = 0; i < n; ++i) a[i] = static_cast<uint64_t>(i);
  sort_run(source, Stages(Source::words, shift), 0, a, b, n, tables);
}

// 32 bits of a key, from a place that depends on the bucket, and the index.
struct BitsAndIndex {
  const int* shifts;
  HWY_INLINE uint64_t operator()(uint64_t key, int64_t index, int64_t bucket) const {
    return (key >> shifts[bucket] & 0xffffffff) << 32 | static_cast<uint64_t>(index);
  }
};

struct OrderMemory {
  LongSortMemory<uint64_t> sorting;
  Distribution distribution;  // of all elements; that of `sorting` is of one bucket
  int64_t chunks;
  // Start of the first run of each stage and chunk, and of its last run if that is longer than a block, else -1.
  int64_t *starts, *long_runs;
  OrderMemory(ScratchArena& scratch, int64_t n, int stages)
      : sorting(scratch),
        distribution(scratch),
        chunks(ceil_div(n, longest_block)),
        starts(scratch.array<int64_t>(stages * (chunks + 1))),
        long_runs(scratch.array<int64_t>(stages * chunks)) {}
};
template <class Source>
constexpr int stage_count = Source::bits <= 32 ? 1 : 2 * Source::words;

// Sorts each run of equal packed keys by the stages from `number` on.
template <class Source>
fe_error* sort_runs(const Call& call, const Source& source, const Stages& stages, int number, uint64_t* a, uint64_t* b,
                    int64_t n, OrderMemory& memory) {
  if (number == stages.count) return nullptr;
  const int64_t chunks = ceil_div(n, longest_block);
  int64_t* const starts = memory.starts + number * (memory.chunks + 1);
  int64_t* const long_runs = memory.long_runs + number * memory.chunks;
  fe_error* error = parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      int64_t i = k * longest_block;
      const int64_t stop = smaller(n, i + longest_block);
      while (i < stop && i > 0 && a[i] >> 32 == a[i - 1] >> 32) ++i;
      starts[k] = i < stop ? i : -1;
    }
  });
  if (error != nullptr) return error;
  starts[chunks] = n;
  for (int64_t k = chunks; k-- > 0;)
    if (starts[k] < 0) starts[k] = starts[k + 1];  // none begins here
  error = parallel_with_local(call, chunks, 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
    for (int64_t k = begin; k < end; ++k) {
      long_runs[k] = -1;
      for (int64_t i = starts[k]; i < starts[k + 1];) {
        const int64_t stop = end_of_run(a, i, starts[k + 1]);
        if (stop - i > longest_block)
          long_runs[k] = i;
        else
          sort_run(source, stages, number, a + i, b + i, stop - i, reinterpret_cast<uint32_t*>(local));
        i = stop;
      }
    }
    return nullptr;
  });
  if (error != nullptr) return error;
  for (int64_t k = 0; k < chunks; ++k) {
    const int64_t first = long_runs[k];
    if (first < 0) continue;
    uint64_t *const run = a + first, *const other = b + first;
    const int64_t count = starts[k + 1] - first;  // it is the last run of those that begin in the chunk
    error = parallel(call, count, Parts::least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run[i] = packed(source, stages.list[number], index_in(run[i]));
    });
    if (error == nullptr) error = sort_long(call, run, other, count, 32, memory.sorting);
    if (error == nullptr) error = sort_runs(call, source, stages, number + 1, run, other, count, memory);
    if (error != nullptr) return error;
  }
  return nullptr;
}

// Writes the packed indices that sort n elements to `a`, by all threads; n is at most most_indices. Each thread needs
// block_tables of local memory. In each bucket the indices are packed behind the highest bits in which keys differ
// there, so that hardly any keys of 64 bits have to be compared again.
template <class Source>
fe_error* order_long(const Call& call, const Source& source, int64_t n, uint64_t* a, uint64_t* b, OrderMemory& memory) {
  const Parts parts(call, n);
  // The keys are copied, because the counted keys must be the moved keys, even if x is overwritten meanwhile.
  const uint64_t first_key = source.word(0, 0);
  const GivenKeys<uint64_t> key_at{a};
  fe_error* error = parallel(call, parts.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      uint64_t found = 0;
      for (int64_t i = parts.first(k); i < parts.first(k + 1); ++i) {
        a[i] = source.word(i, 0);
        found |= a[i] ^ first_key;
      }
      memory.sorting.varying[k] = found;
    }
  });
  if (error != nullptr) return error;
  const uint64_t varying = memory.sorting.all_varying(parts);
  if (varying == 0) {
    for (int64_t i = 0; i < n; ++i) a[i] = static_cast<uint64_t>(i);
    return sort_runs(call, source, Stages(Source::words, 0), 1, a, b, n, memory);
  }
  Distribution& distribution = memory.distribution;
  const Bins<uint64_t> bins = bins_of(first_key, varying, 0);
  error = distribution.count(call, parts, bins, key_at);
  if (error != nullptr) return error;
  int shifts[bucket_count];
  for (int64_t i = 0; i < distribution.buckets; ++i)
    shifts[i] = static_cast<int>(larger(0, distribution.differing_bits(bins, i) - 32));
  error = distribution.move(call, parts, bins, key_at, BitsAndIndex{shifts}, b);
  if (error != nullptr) return error;
  const int64_t long_range = long_range_of(n);
  error = parallel_with_local(call, distribution.buckets, 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
    uint32_t* const tables = reinterpret_cast<uint32_t*>(local);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = distribution.first[i], count = distribution.first[i + 1] - first;
      if (count == 0 || count > long_range) continue;
      sort_block(b + first, a + first, count, 32, true, tables);
      const Stages stages(Source::words, shifts[i]);
      if (stages.count > 1) sort_runs_of_block(source, stages, 1, a + first, b + first, count, tables);
    }
    return nullptr;
  });
  if (error != nullptr) return error;
  for (int64_t i = 0; i < distribution.buckets; ++i) {
    const int64_t first = distribution.first[i], count = distribution.first[i + 1] - first;
    if (count <= long_range) continue;
    error = sort_long(call, a + first, b + first, count, 32, memory.sorting, true);
    if (error == nullptr)
      error = sort_runs(call, source, Stages(Source::words, shifts[i]), 1, a + first, b + first, count, memory);
    if (error != nullptr) return error;
  }
  return nullptr;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
