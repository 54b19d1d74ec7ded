// Finds the items of a chunk that are not zero. A thread loads 16 bytes of narrow items at a time; wider items are
// loaded one at a time, neighbours by the lanes of a warp. A thread has 16 items, and up to 64 bytes in flight.
#pragma once

#include "kernels/compaction/compaction.h"
#include "kernels/device.h"
#include "kernels/movement/units.h"

namespace ferrule::cuda {

inline constexpr uint32_t compaction_warps = compaction_threads / 32;
static_assert(compaction_chunk == 16 * compaction_threads);

// ---- items of 1 or 2 bytes
// 16 bytes from item `first` on, with zeros behind the last item.
template <class Item>
__device__ __forceinline__ uint4 load_items(const FoundItems& p, uint64_t first) {
  constexpr uint32_t bits = 8 * sizeof(Item), per_word = 32 / bits;
  uint32_t words[4] = {};
#pragma unroll
  for (uint32_t i = 0; i < 4 * per_word; ++i)
    if (first + i < p.length)
      words[i / per_word] |= uint32_t{pointer<const Item>(p.x)[first + i]} << i % per_word * bits;
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// Bit i: whether item i of 16 bytes is not zero.
template <class Item>
__device__ __forceinline__ uint32_t bits_of(uint4 items, uint32_t mask) {
  constexpr uint32_t bits = 8 * sizeof(Item), per_word = 32 / bits;
  const uint32_t words[4] = {items.x, items.y, items.z, items.w};
  uint32_t found = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4 * per_word; ++i)
    if ((words[i / per_word] & mask << i % per_word * bits) != 0) found |= 1u << i;
  return found;
}

// ---- wider items
__device__ __forceinline__ bool is_nonzero(uint32_t item, uint64_t mask) { return (item & mask) != 0; }
__device__ __forceinline__ bool is_nonzero(uint64_t item, uint64_t mask) { return (item & mask) != 0; }
__device__ __forceinline__ bool is_nonzero(uint4 item, uint64_t mask) {
  return (((item.x | item.z) & static_cast<uint32_t>(mask)) | ((item.y | item.w) & mask >> 32)) != 0;
}

// ---- of the block's chunk
// Whether the thread's items are not zero. Bit i: of a narrow item, item i % n of the thread's group i / n of n = 16 or
// 8 neighbours, of which the threads have one after the other; of a wider one, item i * compaction_threads + thread.
template <class Item>
__device__ __forceinline__ uint32_t found_bits(const FoundItems& p) {
  const uint64_t chunk = uint64_t{blockIdx.x} * compaction_chunk;
  uint32_t found = 0;
  if constexpr (sizeof(Item) <= 2) {
    constexpr uint32_t neighbours = 16 / sizeof(Item), groups = 16 / neighbours;
    const uint64_t first = chunk + threadIdx.x * neighbours;
    uint4 items[groups];
    const auto item_of_group = [&](uint32_t i) { return first + i * compaction_threads * neighbours; };
    if (p.x % 16 == 0 && chunk + compaction_chunk <= p.length) {
#pragma unroll
      for (uint32_t i = 0; i < groups; ++i) items[i] = pointer<const uint4>(p.x)[item_of_group(i) / neighbours];
    } else {
#pragma unroll
      for (uint32_t i = 0; i < groups; ++i) items[i] = load_items<Item>(p, item_of_group(i));
    }
#pragma unroll
    for (uint32_t i = 0; i < groups; ++i)
      found |= bits_of<Item>(items[i], static_cast<uint32_t>(p.mask)) << i * neighbours;
  } else {
    constexpr uint32_t batch = 64 / sizeof(Item);
    const uint64_t first = chunk + threadIdx.x;
#pragma unroll
    for (uint32_t step = 0; step < 16; step += batch) {
      Item items[batch];
#pragma unroll
      for (uint32_t i = 0; i < batch; ++i) {
        const uint64_t item = first + (step + i) * compaction_threads;
        items[i] = item < p.length ? pointer<const Item>(p.x)[item] : Item{};
      }
#pragma unroll
      for (uint32_t i = 0; i < batch; ++i)
        if (is_nonzero(items[i], p.mask)) found |= 1u << (step + i);
    }
  }
  return found;
}

// Writes the bits of 16 neighbours each, in order, to `lists` in shared memory.
template <class Item>
__device__ __forceinline__ void list_found(const FoundItems& p, uint16_t* lists) {
  const uint32_t found = found_bits<Item>(p), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if constexpr (sizeof(Item) == 1) {
    lists[threadIdx.x] = static_cast<uint16_t>(found);
  } else if constexpr (sizeof(Item) == 2) {
    auto* const bytes = reinterpret_cast<uint8_t*>(lists);
    bytes[threadIdx.x] = static_cast<uint8_t>(found);
    bytes[compaction_threads + threadIdx.x] = static_cast<uint8_t>(found >> 8);
  } else {
    // A ballot has the bits of 32 neighbours: two lanes store its halves.
    uint32_t own = 0;
#pragma unroll
    for (uint32_t step = 0; step < 16; ++step) {
      const uint32_t ballot = __ballot_sync(0xffffffffu, found >> step & 1u);
      if (lane / 2 == step) own = ballot >> lane % 2 * 16;
    }
    lists[(lane / 2 * compaction_warps + warp) * 2 + lane % 2] = static_cast<uint16_t>(own);
  }
}

// The sum over the lanes up to this one.
__device__ __forceinline__ uint32_t sum_up_to_lane(uint32_t value) {
#pragma unroll
  for (uint32_t gap = 1; gap < 32; gap *= 2) {
    const uint32_t before = __shfl_up_sync(0xffffffffu, value, gap);
    if (threadIdx.x % 32 >= gap) value += before;
  }
  return value;
}

// Calls `write(position, item)` for each item of the block's chunk that is not zero: neighbouring threads have
// neighbouring positions.
template <class Write>
__device__ __forceinline__ void for_each_found(const FoundItems& p, const Write& write) {
  FERRULE_SHARED(uint16_t, lists, [compaction_threads]);
  FERRULE_SHARED(uint16_t, items, [compaction_chunk]);
  FERRULE_SHARED(uint32_t, found_by_warp, [compaction_warps]);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  with_unit<uint4>(p.item_bytes, [&](auto item) { list_found<decltype(item)>(p, lists); });
  __syncthreads();
  const uint32_t bits = lists[threadIdx.x], own = static_cast<uint32_t>(__popc(bits)), sum = sum_up_to_lane(own);
  if (lane == 31) found_by_warp[warp] = sum;
  __syncthreads();
  uint32_t first = sum - own, total = 0;
#pragma unroll
  for (uint32_t i = 0; i < compaction_warps; ++i) {
    if (i < warp) first += found_by_warp[i];
    total += found_by_warp[i];
  }
  // Lanes begin at different bits: if all items are found, the places that 32 lanes write at once are in 32 banks.
  const uint32_t begin = lane / 4 * 2;
#pragma unroll 1
  for (uint32_t rest = (bits << 16 | bits) >> begin & 0xffffu; rest != 0; rest &= rest - 1) {
    const uint32_t bit = (static_cast<uint32_t>(__ffs(static_cast<int>(rest))) - 1 + begin) % 16;
    items[first + static_cast<uint32_t>(__popc(bits & ((1u << bit) - 1)))] =
        static_cast<uint16_t>(threadIdx.x * 16 + bit);
  }
  __syncthreads();
  const auto start = static_cast<uint64_t>(pointer<const int64_t>(p.places)[blockIdx.x]);
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < total; i += compaction_threads)
    write(start + i, uint64_t{blockIdx.x} * compaction_chunk + items[i]);
}

}  // namespace ferrule::cuda
