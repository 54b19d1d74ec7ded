// Parts of the order of reduce.h, the loading of elements and the storing of values.
#pragma once

#include "kernels/reduction/reduced_values.h"

namespace ferrule::cuda {

template <class Op>
inline constexpr uint32_t vector_items = reduce_vector_bytes / sizeof(typename Op::Item);
template <class Op>
inline constexpr uint32_t leaf_items = reduce_leaf_bytes / sizeof(typename Op::Item);

// Combines `kCount` adjacent values pairwise.
template <class Op, uint32_t kCount, class Value>
__device__ __forceinline__ Value pairwise(const Op& op, Value (&values)[kCount]) {
#pragma unroll
  for (uint32_t gap = 1; gap < kCount; gap *= 2) {
#pragma unroll
    for (uint32_t i = 0; i + gap < kCount; i += 2 * gap) values[i] = op.combined(values[i], values[i + gap]);
  }
  return values[0];
}

// The value of the lane that differs in the bits of `lanes`.
template <class T>
__device__ __forceinline__ T exchanged(T value, uint32_t lanes) {
  return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(lanes));
}
template <class Key, class Place>
__device__ __forceinline__ Placed<Key, Place> exchanged(Placed<Key, Place> value, uint32_t lanes) {
  return {exchanged(value.key, lanes), exchanged(value.place, lanes)};
}

// Adjacent items, in words: items of their own would take a register each.
template <class Item_, uint32_t kCount>
struct Adjacent {
  using Item = Item_;
  static constexpr uint32_t bytes = sizeof(Item) * kCount, word_bytes = sizeof(Item) == 8 ? 8 : bytes < 4 ? bytes : 4;
  static_assert(bytes == 16 || bytes == 8 || bytes == 4 || kCount == 1);
  using Word = std::conditional_t<
      word_bytes == 8, uint64_t,
      std::conditional_t<word_bytes == 4, uint32_t, std::conditional_t<word_bytes == 2, uint16_t, uint8_t>>>;
  Word words[bytes / word_bytes];

  __device__ __forceinline__ Item item(uint32_t i) const {
    if constexpr (sizeof(Item) == word_bytes)
      return bits_as<Item>(words[i]);
    else if constexpr (sizeof(Item) == 2)
      return bits_as<Item>(static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2)));
    else
      return bits_as<Item>(static_cast<uint8_t>(words[i / 4] >> 8 * (i % 4)));
  }
  // Loads from an address that is a multiple of the size of the items.
  __device__ __forceinline__ void load(const Item* from) {
    if constexpr (bytes == 16 && word_bytes == 8) {
      const auto loaded = *reinterpret_cast<const ulonglong2*>(from);
      words[0] = loaded.x, words[1] = loaded.y;
    } else if constexpr (bytes == 16) {
      const uint4 loaded = *reinterpret_cast<const uint4*>(from);
      words[0] = loaded.x, words[1] = loaded.y, words[2] = loaded.z, words[3] = loaded.w;
    } else if constexpr (bytes == 8 && word_bytes == 4) {
      const uint2 loaded = *reinterpret_cast<const uint2*>(from);
      words[0] = loaded.x, words[1] = loaded.y;
    } else {
      words[0] = *reinterpret_cast<const Word*>(from);
    }
  }
};

// Loads elements [from, from + kCount) of one or several adjacent results, up to element `end`; others are zero. The
// elements of several results are on one axis.
template <class Items, uint32_t kCount>
__device__ __forceinline__ void gather(const ReduceParameters& p, const typename Items::Item* result, uint64_t from,
                                       uint64_t end, Items (&items)[kCount]) {
  if (Items::bytes > sizeof(typename Items::Item) || p.reduced.rank <= 1) {
    const int64_t stride = p.reduced.strides[0];
    result += static_cast<int64_t>(from) * stride;
#pragma unroll
    for (uint32_t i = 0; i < kCount; ++i, result += stride) {
      items[i] = {};
      if (from + i < end) items[i].load(result);
    }
  } else if constexpr (Items::bytes == sizeof(typename Items::Item)) {
    // The loop is not unrolled, because offset_of is long. So each item enters at the end, and moves forward.
#pragma unroll 1
    for (uint32_t i = 0; i < kCount; ++i) {
#pragma unroll
      for (uint32_t k = 0; k + 1 < kCount; ++k) items[k] = items[k + 1];
      items[kCount - 1] = {};
      if (from + i < end) items[kCount - 1].load(result + offset_of(p.reduced, from + i));
    }
  }
}

// Stores part `part` of a result, or the result if it has one part.
template <class Op>
__device__ __forceinline__ void leave(const ReduceParameters& p, const Op& op, uint64_t result, uint64_t part,
                                      typename Op::Value value) {
  if (p.parts == 1)
    op.store(p.to, result, value);
  else
    pointer<typename Op::Value>(p.partials)[part * p.results + result] = value;
}

}  // namespace ferrule::cuda
