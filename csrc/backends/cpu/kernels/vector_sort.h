// Sorts unsigned integers of 32 and 64 bits by vectors: quicksort down to a few vectors, which a bitonic network sorts
// in registers (Batcher 1968; for the idea of both see Bramas 2017, doi 10.14569/IJACSA.2017.081044).
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class K>
constexpr bool has_vector_sort = HWY_MAX_BYTES >= 32 && sizeof(K) >= 4;

#if HWY_MAX_BYTES >= 32

// The exchanges of lanes of the network: lane i is compared with lane i ^ distance.
template <class K>
struct LaneExchanges {
  static constexpr int lanes = static_cast<int>(lanes_of<K>);
  using Index = hwy::UnsignedFromSize<sizeof(K)>;
  alignas(64) Index tables[2 * lanes][lanes];
  constexpr LaneExchanges() : tables() {
    for (int distance = 0; distance < lanes; ++distance)
      for (int i = 0; i < lanes; ++i) tables[distance][i] = static_cast<Index>(i ^ distance);
  }
};
template <class K>
inline constexpr LaneExchanges<K> lane_exchanges{};

template <class K>
struct Network {
  using D = Full<K>;
  using V = hn::Vec<D>;
  static constexpr int lanes = static_cast<int>(lanes_of<K>);
  static constexpr int most_vectors = HWY_MAX_BYTES == 64 ? 16 : 8;
  static constexpr int64_t most = int64_t{lanes} * most_vectors;

  template <int distance>
  static HWY_INLINE V exchanged(V v) {
    const D d;
    return hn::TableLookupLanes(v, hn::SetTableIndices(d, lane_exchanges<K>.tables[distance]));
  }
  // Lanes whose bit is set get the greater one of the lane and the one at the distance.
  template <int distance, int bit>
  static HWY_INLINE V step(V v) {
    const D d;
    const V other = exchanged<distance>(v);
    const auto upper =
        hn::RebindMask(d, hn::Ne(hn::And(hn::Iota(d, K(0)), hn::Set(d, static_cast<K>(bit))), hn::Zero(d)));
    return hn::IfThenElse(upper, hn::Max(v, other), hn::Min(v, other));
  }
  template <int distance>
  static HWY_INLINE V clean(V v) {
    if constexpr (distance > 0) return clean<distance / 2>(step<distance, distance>(v));
    return v;
  }
  // Sorts blocks of `size` lanes, whose halves are sorted.
  template <int size>
  static HWY_INLINE V merge(V v) {
    return clean<size / 4>(step<size - 1, size / 2>(v));
  }
  template <int size>
  static HWY_INLINE V sort_lanes(V v) {
    if constexpr (size > 1) return merge<size>(sort_lanes<size / 2>(v));
    return v;
  }

  // Sorts each block of `size` vectors, whose halves are sorted.
  template <int count, int size>
  static HWY_INLINE void merge_vectors(V* v) {
    HWY_UNROLL(16) for (int k = 0; k < count; ++k) {
      const int other = k ^ (size - 1);
      if (other < k) continue;
      const V turned = exchanged<lanes - 1>(v[other]);
      v[other] = exchanged<lanes - 1>(hn::Max(v[k], turned));
      v[k] = hn::Min(v[k], turned);
    }
    clean_vectors<count, size / 4>(v);
    HWY_UNROLL(16) for (int k = 0; k < count; ++k) v[k] = clean<lanes / 2>(v[k]);
  }
  template <int count, int distance>
  static HWY_INLINE void clean_vectors(V* v) {
    if constexpr (distance > 0) {
      HWY_UNROLL(16) for (int k = 0; k < count; ++k) {
        const int other = k ^ distance;
        if (other < k) continue;
        const V low = hn::Min(v[k], v[other]);
        v[other] = hn::Max(v[k], v[other]);
        v[k] = low;
      }
      clean_vectors<count, distance / 2>(v);
    }
  }
  template <int count, int size>
  static HWY_INLINE void sort_vectors(V* v) {
    if constexpr (size > 1) {
      sort_vectors<count, size / 2>(v);
      merge_vectors<count, size>(v);
    }
  }

  // Sorts n integers, more than half of `count` vectors.
  template <int count>
  static HWY_NOINLINE void sort(const K* from, int64_t n, K* to) {
    const D d;
    V v[count];
    const K last = static_cast<K>(~K{0});
    HWY_UNROLL(16) for (int k = 0; k < count; ++k) {
      const int64_t left = n - k * lanes;
      v[k] = left >= lanes ? hn::LoadU(d, from + k * lanes)
             : left > 0    ? load_first<K>(d, from + k * lanes, static_cast<size_t>(left), last)
                           : hn::Set(d, last);
    }
    HWY_UNROLL(16) for (int k = 0; k < count; ++k) v[k] = sort_lanes<lanes>(v[k]);
    sort_vectors<count, count>(v);
    HWY_UNROLL(16) for (int k = 0; k < count; ++k) {
      const int64_t left = n - k * lanes;
      if (left >= lanes)
        hn::StoreU(v[k], d, to + k * lanes);
      else if (left > 0)
        store_first<K>(d, v[k], to + k * lanes, static_cast<size_t>(left));
    }
  }

  // Sorts at most `most` integers.
  static void sort_few(const K* from, int64_t n, K* to) {
    if (n <= lanes) return sort<1>(from, n, to);
    if (n <= 2 * lanes) return sort<2>(from, n, to);
    if (n <= 4 * lanes) return sort<4>(from, n, to);
    if (n <= 8 * lanes) return sort<8>(from, n, to);
    if constexpr (most_vectors == 16) sort<16>(from, n, to);
  }
};

// The lanes whose mask is set, side by side; any lanes follow. Highway's own is a table lookup for 64 bits.
template <class V, class M>
HWY_INLINE V compressed(V v, M mask) {
#if HWY_MAX_BYTES == 64
  if constexpr (sizeof(hn::TFromV<V>) == 8) return V{_mm512_maskz_compress_epi64(mask.raw, v.raw)};
#endif
  return hn::Compress(v, mask);
}

// Moves the integers below the pivot (or up to it) to the front, the others behind them; returns how many are in front.
template <bool up_to, class K>
HWY_NOINLINE int64_t partition(K* a, K* b, int64_t n, K pivot) {
  const Full<K> d;
  constexpr int64_t lanes = lanes_of<K>;
  const auto middle = hn::Set(d, pivot);
  int64_t front = 0, back = 0, i = 0;
  // Nothing unread is overwritten, because front <= i and back <= i.
  const auto move = [&](auto v) HWY_ATTR {
    const auto is_front = up_to ? hn::Not(hn::Lt(middle, v)) : hn::Lt(v, middle);
    hn::StoreU(compressed(v, is_front), d, a + front);
    hn::StoreU(compressed(v, hn::Not(is_front)), d, b + back);
    const int64_t count = static_cast<int64_t>(hn::CountTrue(d, is_front));
    front += count;
    back += lanes - count;
  };
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto v0 = hn::LoadU(d, a + i), v1 = hn::LoadU(d, a + i + lanes);
    const auto v2 = hn::LoadU(d, a + i + 2 * lanes), v3 = hn::LoadU(d, a + i + 3 * lanes);
    move(v0);
    move(v1);
    move(v2);
    move(v3);
  }
  for (; i + lanes <= n; i += lanes) move(hn::LoadU(d, a + i));
  for (; i < n; ++i) {
    const K key = a[i];
    const bool is_front = up_to ? key <= pivot : key < pivot;
    a[front] = key;
    b[back] = key;
    front += is_front;
    back += !is_front;
  }
  memcpy(a + front, b, static_cast<size_t>(back) * sizeof(K));
  return front;
}

// The median of integers at regular distances.
template <int64_t samples, class K>
K median_of(const K* a, int64_t n) {
  K chosen[samples];
  const int64_t distance = n / samples;
  for (int64_t k = 0; k < samples; ++k) chosen[k] = a[k * distance + distance / 2];
  Network<K>::sort_few(chosen, samples, chosen);
  return chosen[samples / 2];
}
template <class K>
K pivot_of(const K* a, int64_t n) {
  constexpr int64_t lanes = lanes_of<K>;
  return n < 64 * lanes ? median_of<lanes>(a, n) : median_of<4 * lanes>(a, n);
}

// Sorts n integers with a second array of the same size; returns false, with the integers in another order, if the
// pivots are too bad.
template <class K>
bool vector_sort(K* a, K* b, int64_t n, int depth) {
  while (n > Network<K>::most) {
    if (depth-- == 0) return false;
    const K pivot = pivot_of(a, n);
    int64_t front = partition<false>(a, b, n, pivot);
    if (front == 0) {  // the pivot is the least: those equal to it are done
      front = partition<true>(a, b, n, pivot);
    } else if (!vector_sort(a, b, front, depth)) {
      return false;
    }
    a += front;
    n -= front;
  }
  Network<K>::sort_few(a, n, a);
  return true;
}

#endif

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
