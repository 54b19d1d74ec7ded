// Finds the k-th greatest of the keys of a block's elements, digit by digit, from the counts of each digit (radix
// select). Among elements with equal keys, those with lower indices are taken first.
#pragma once

#include "kernels/device.h"

namespace ferrule::cuda {

// The least element that is taken, in the digits that are known.
template <class Key>
struct Threshold {
  Key known, key;
  uint32_t known_turn, turn;

  // The index is a function, because few elements need it.
  template <class Index>
  __device__ __forceinline__ bool takes(Key key_of_element, const Index& index) const {
    const Key digits = key_of_element & known;
    return digits > key || (digits == key && (known_turn == 0 || (~index() & known_turn) >= turn));
  }
};

struct DigitSearch {
  uint32_t histogram[256], totals[8];
  uint32_t digit, missing, matched;
};

// Finds the digit of the element that is number `missing` of those in the histogram, the greatest digit first; then
// `missing` counts only those with this digit, of which there are `matched`. All threads of the block call it.
__device__ __forceinline__ void find_digit(DigitSearch& search, uint32_t missing) {
  __syncthreads();
  uint32_t own = 0, until = 0;
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp < 8) {
    own = until = search.histogram[255 - threadIdx.x];
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t other = __shfl_up_sync(0xffffffffu, until, step);
      if (lane >= step) until += other;
    }
    if (lane == 31) search.totals[warp] = until;
  }
  __syncthreads();
  if (warp < 8) {
    for (uint32_t i = 0; i < warp; ++i) until += search.totals[i];
    if (until - own < missing && missing <= until) {
      search.digit = 255 - threadIdx.x;
      search.missing = missing - (until - own);
      search.matched = own;
    }
  }
  __syncthreads();
}

// `visit(work)` calls `work(key, index)`, where `index()` is the index, for each element of the thread; `count` is how
// many the block has. Indices are less than `index_limit`. All threads of the block call it, which are at least 256.
template <class Key, int key_bits, class Visit>
__device__ __forceinline__ Threshold<Key> find_threshold(DigitSearch& search, uint32_t k, uint32_t count,
                                                         uint32_t index_limit, const Visit& visit) {
  Threshold<Key> threshold = {0, 0, 0, 0};
  uint32_t missing = k, matched = count;
  const auto clear = [&] {
    if (threadIdx.x < 256) search.histogram[threadIdx.x] = 0;
    __syncthreads();
  };
#pragma unroll 1
  for (int shift = key_bits - 8; shift >= 0 && matched != missing; shift -= 8) {
    clear();
    visit([&](Key key, const auto&) {
      if ((key & threshold.known) == threshold.key)
        atomicAdd(&search.histogram[static_cast<uint32_t>(key >> shift) & 255u], 1u);
    });
    find_digit(search, missing);
    threshold.key |= static_cast<Key>(search.digit) << shift;
    threshold.known |= Key{255} << shift;
    missing = search.missing;
    matched = search.matched;
  }
  // Ties. Lower indices have greater turns; the digits above those of the limit are the same in all.
  int shift = 0;
  while (shift < 24 && index_limit >> (shift + 8) != 0) shift += 8;
  if (matched != missing && shift < 24) {
    threshold.known_turn = ~0u << (shift + 8);
    threshold.turn = threshold.known_turn;
  }
#pragma unroll 1
  for (; shift >= 0 && matched != missing; shift -= 8) {
    clear();
    visit([&](Key key, const auto& index) {
      if (key != threshold.key) return;
      const uint32_t turn = ~index();
      if ((turn & threshold.known_turn) == threshold.turn) atomicAdd(&search.histogram[(turn >> shift) & 255u], 1u);
    });
    find_digit(search, missing);
    threshold.turn |= search.digit << shift;
    threshold.known_turn |= 255u << shift;
    missing = search.missing;
    matched = search.matched;
  }
  return threshold;
}

// ---- sorting of elements that have been taken
template <class Key>
__device__ __forceinline__ bool is_better(Key key, uint32_t index, Key other, uint32_t other_index) {
  return key != other ? key > other : index < other_index;
}

// Sorts `padded` elements, a power of two, the best first, by a bitonic network. All threads of the block call it,
// after a barrier; it ends with one.
template <class Key>
__device__ __forceinline__ void sort_best_first(Key* keys, uint32_t* indices, uint32_t padded) {
#pragma unroll 1
  for (uint32_t size = 2; size <= padded && size != 0; size *= 2)
#pragma unroll 1
    for (uint32_t gap = size / 2; gap > 0; gap /= 2) {
      for (uint32_t i = threadIdx.x; i < padded / 2; i += blockDim.x) {
        const uint32_t place = 2 * i - (i & (gap - 1)), other = place + gap;
        const bool best_first = (place & size) == 0;
        const Key key = keys[place], other_key = keys[other];
        const uint32_t index = indices[place], other_index = indices[other];
        if (is_better(key, index, other_key, other_index) == best_first) continue;
        keys[place] = other_key;
        indices[place] = other_index;
        keys[other] = key;
        indices[other] = index;
      }
      __syncthreads();
    }
}

}  // namespace ferrule::cuda
