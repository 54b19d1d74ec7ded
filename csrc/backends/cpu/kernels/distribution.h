// Distributes an array into buckets by keys, which are unsigned integers, by all threads.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t bucket_count = 256;

template <class K>
constexpr int highest_bit(K x) {
  return 63 - __builtin_clzll(static_cast<unsigned long long>(x));
}

// The parts of an array that all threads work on: several for each thread, because some may start late.
struct Parts {
  static constexpr int64_t least = int64_t{1} << 15, most = 64;
  int64_t n, count;
  Parts(const Call& call, int64_t length)
      : n(length), count(larger(1, smaller(length / least, smaller(most, 8 * thread_count(call))))) {}
  int64_t first(int64_t part) const { return n / count * part + smaller(part, n % count); }
  // An upper bound of the length of a part, for any number of threads.
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
  // Makes bins for keys from `least` to `greatest`, whose bits below `low` do not matter.
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

// A caller of the distribution that has nothing to do after a part or a bucket.
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
  explicit Distribution(ScratchArena& scratch)
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

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
