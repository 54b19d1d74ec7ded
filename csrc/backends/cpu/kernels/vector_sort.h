// Sorts unsigned integers of 32 and 64 bits by vectors: quicksort down to a few vectors, which are sorted in registers:
// first the columns by Batcher's odd-even merge sort (1968), then neighbouring columns are merged by bitonic networks,
// as in Blacher et al. 2022 (arXiv:2205.05982); for quicksort by vectors see Bramas 2017
// (doi 10.14569/IJACSA.2017.081044).
#pragma once

#include "compressed.h"
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
  alignas(64) Index tables[lanes][lanes];
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
    if constexpr (distance == 1) return hn::Reverse2(d, v);
    if constexpr (distance == 3) return hn::Reverse4(d, v);
    return hn::TableLookupLanes(v, hn::SetTableIndices(d, lane_exchanges<K>.tables[distance]));
  }
  static HWY_INLINE void order(V& low, V& high) {
    const V less = hn::Min(low, high);
    high = hn::Max(low, high);
    low = less;
  }
  // Lanes whose bit is set get the greater one of the lane and the one at the distance.
  template <int distance, int bit>
  static HWY_INLINE V step(V v) {
    const V other = exchanged<distance>(v);
#if HWY_MAX_BYTES == 64
    constexpr uint64_t uppers = bit == 1   ? 0xaaaaaaaaaaaaaaaa
                                : bit == 2 ? 0xcccccccccccccccc
                                : bit == 4 ? 0xf0f0f0f0f0f0f0f0
                                           : 0xff00ff00ff00ff00;
    if constexpr (sizeof(K) == 4)
      return V{_mm512_mask_max_epu32(hn::Min(v, other).raw, static_cast<__mmask16>(uppers), v.raw, other.raw)};
    else
      return V{_mm512_mask_max_epu64(hn::Min(v, other).raw, static_cast<__mmask8>(uppers), v.raw, other.raw)};
#else
    const D d;
    const auto upper =
        hn::RebindMask(d, hn::Ne(hn::And(hn::Iota(d, K(0)), hn::Set(d, static_cast<K>(bit))), hn::Zero(d)));
    return hn::IfThenElse(upper, hn::Max(v, other), hn::Min(v, other));
#endif
  }
  template <int distance>
  static HWY_INLINE V clean(V v) {
    if constexpr (distance > 0) return clean<distance / 2>(step<distance, distance>(v));
    return v;
  }

  // Batcher's merge of the rows first, first + distance, ... of each column, up to first + size; both halves ascend.
  template <int first, int size, int distance>
  static HWY_INLINE void merge_rows(V* v) {
    if constexpr (2 * distance < size) {
      merge_rows<first, size, 2 * distance>(v);
      merge_rows<first + distance, size, 2 * distance>(v);
      HWY_UNROLL(16)
      for (int k = first + distance; k + distance < first + size; k += 2 * distance) order(v[k], v[k + distance]);
    } else {
      order(v[first], v[first + distance]);
    }
  }
  template <int first, int size>
  static HWY_INLINE void sort_columns(V* v) {
    if constexpr (size > 1) {
      sort_columns<first, size / 2>(v);
      sort_columns<first + size / 2, size / 2>(v);
      merge_rows<first, size, 1>(v);
    }
  }

  // Merges the halves of each block of `width` columns, whose integers ascend row by row. A half-cleaner of a bitonic
  // sequence that goes down in one half and up in the other compares opposite places of a block of rows.
  template <int count, int rows, int width>
  static HWY_INLINE void fold_rows(V* v) {
    if constexpr (rows > 1) {
      HWY_UNROLL(16) for (int k = 0; k < count; ++k) {
        const int other = k ^ (rows - 1);
        if (other < k) continue;
        v[other] = exchanged<width - 1>(v[other]);
        order(v[k], v[other]);
      }
      fold_rows<count, rows / 2, width>(v);
    }
  }
  template <int count, int width>
  static HWY_INLINE void merge_columns(V* v) {
    if constexpr (width <= lanes) {
      fold_rows<count, count, width>(v);
      HWY_UNROLL(16) for (int k = 0; k < count; ++k) v[k] = clean<width / 4>(step<width - 1, width / 2>(v[k]));
      merge_columns<count, 2 * width>(v);
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
    sort_columns<0, count>(v);
    merge_columns<count, 2>(v);
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

template <class K>
struct Parted {
  int64_t front;
  K extreme;  // the greatest integer, or the least one if those up to the pivot are in front
};

// Divides the integers into those below the pivot (or up to it) and the others: if `front_stays`, the first go to the
// front of `a` and the others to the front of `b`, else the other way round.
template <bool up_to, bool front_stays, class K>
HWY_NOINLINE Parted<K> partition(K* a, K* b, int64_t n, K pivot) {
  const Full<K> d;
  constexpr int64_t lanes = lanes_of<K>;
  const auto middle = hn::Set(d, pivot);
  auto extreme = middle;
  int64_t in_a = 0, in_b = 0, i = 0;
  const auto stays = [&](auto v) HWY_ATTR {
    const auto is_front = up_to ? hn::Not(hn::Lt(middle, v)) : hn::Lt(v, middle);
    return front_stays ? is_front : hn::Not(is_front);
  };
  // Nothing unread is overwritten, because in_a <= i and in_b <= i.
  const auto move = [&](auto v) HWY_ATTR {
    const auto staying = stays(v);
    extreme = up_to ? hn::Min(extreme, v) : hn::Max(extreme, v);
    hn::StoreU(compressed(v, staying), d, a + in_a);
    hn::StoreU(compressed(v, hn::Not(staying)), d, b + in_b);
    const int64_t count = static_cast<int64_t>(hn::CountTrue(d, staying));
    in_a += count;
    in_b += lanes - count;
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
  if (i < n) {
    const auto v = load_first<K>(d, a + i, static_cast<size_t>(n - i), pivot);
    const auto given = hn::FirstN(d, static_cast<size_t>(n - i));
    const auto staying = hn::And(stays(v), given), leaving = hn::AndNot(stays(v), given);
    const auto count = static_cast<int64_t>(hn::CountTrue(d, staying));
    if (count > 0) store_first<K>(d, compressed(v, staying), a + in_a, static_cast<size_t>(count));
    if (count < n - i) store_first<K>(d, compressed(v, leaving), b + in_b, static_cast<size_t>(n - i - count));
    in_a += count;
    extreme = up_to ? hn::Min(extreme, v) : hn::Max(extreme, v);
  }
  K found = pivot, lane[lanes];
  hn::StoreU(extreme, d, lane);
  for (const K key : lane) found = up_to ? (key < found ? key : found) : (key > found ? key : found);
  return {front_stays ? in_a : n - in_a, found};
}
template <class K>
Parted<K> partition_at(K* a, K* b, int64_t n, K pivot, bool up_to, bool front_stays) {
  if (up_to) return front_stays ? partition<true, true>(a, b, n, pivot) : partition<true, false>(a, b, n, pivot);
  return front_stays ? partition<false, true>(a, b, n, pivot) : partition<false, false>(a, b, n, pivot);
}

// The median of integers at regular distances, and the least and the greatest of them.
template <class K>
struct Pivot {
  K median, least, greatest;
};
template <int64_t samples, class K>
Pivot<K> pivot_of_samples(const K* a, int64_t n) {
  K chosen[samples];
  const int64_t distance = n / samples;
  for (int64_t k = 0; k < samples; ++k) chosen[k] = a[k * distance + distance / 2];
  Network<K>::sort_few(chosen, samples, chosen);
  return {chosen[samples / 2], chosen[0], chosen[samples - 1]};
}
template <class K>
Pivot<K> pivot_of(const K* a, int64_t n) {
  constexpr int64_t lanes = lanes_of<K>;
  return n < 64 * lanes ? pivot_of_samples<lanes>(a, n) : pivot_of_samples<4 * lanes>(a, n);
}

// Sorts n integers of `a` with a second array of the same size; the result is in `b` if into_b, else in `a`. Parts
// whose pivots are too bad are sorted by otherwise(a, b, n, into_b). A part of integers that equal the pivot is not
// sorted.
template <class K, class Otherwise>
void vector_sort(K* a, K* b, int64_t n, bool into_b, int depth, const Otherwise& otherwise) {
  bool is_stuck = false;
  while (n > Network<K>::most) {
    if (depth-- == 0) return otherwise(a, b, n, into_b);
    const Pivot<K> pivot = pivot_of(a, n);
    // Integers that equal the pivot go to the part that may consist of them. If that leaves the other part empty, the
    // next turn, whose pivot is the same, divides them differently.
    const bool up_to = (pivot.median == pivot.least && pivot.median != pivot.greatest) != is_stuck;
    // The part in front goes to where the result is, so that the other one is not yet there.
    const Parted<K> parted = partition_at(a, b, n, pivot.median, up_to, !into_b);
    const int64_t front = parted.front;
    K *const result = into_b ? b : a, *const other = into_b ? a : b;
    is_stuck = front == (up_to ? n : 0);
    if (!up_to && parted.extreme == pivot.median) {
      for (int64_t i = front; i < n; ++i) result[i] = pivot.median;
    } else if (is_stuck && !up_to) {
      a = other;
      b = result;
      into_b = true;
      continue;
    } else if (front < n) {
      vector_sort(other, result + front, n - front, true, depth, otherwise);
    }
    if (up_to && parted.extreme == pivot.median) return;
    a = result;
    b = other;
    into_b = false;
    n = front;
  }
  Network<K>::sort_few(a, n, into_b ? b : a);
}

#endif

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
