// Finds the items that are not zero, in their order: a count of each chunk, a sum over the chunks, and then a second
// reading that knows where to write. Limit: bytes of memory.
#include "kernels/compaction/compaction.h"

#include "kernels/compaction/find_items.h"
#include "kernels/movement/units.h"

namespace ferrule::cuda {
namespace {

template <class Number>
__device__ __forceinline__ void write_indices(const CompactionIndicesParameters& p, uint64_t position, Number item) {
  int64_t* const to = pointer<int64_t>(p.to) + position * p.rank;
#pragma unroll 1
  for (uint32_t axis = p.rank; axis-- > 0;) {
    const auto size = static_cast<Number>(p.shape[axis]);
    const Number rest = axis == 0 ? 0 : item / size;
    to[axis] = static_cast<int64_t>(item - rest * size);
    item = rest;
  }
}

template <class Unit, class Number>
__device__ __forceinline__ void copy_slices(const CompactionSlicesParameters& p) {
  const uint64_t per_slice = p.slice_bytes / sizeof(Unit);
  const auto kept = static_cast<uint64_t>(*pointer<const int64_t>(p.count));
  Unit units[unit_slots] = {};
  for_each_slot<Number>(
      p.outer_count * p.size * per_slice,
      [&](Number number, int slot) {
        const Number slice = number / static_cast<Number>(per_slice);
        const Number outer = slice / static_cast<Number>(p.size), place = slice - outer * static_cast<Number>(p.size);
        units[slot] = {};
        if (place >= kept) return;
        const uint64_t from = uint64_t{outer} * p.length + static_cast<uint64_t>(pointer<const int64_t>(p.kept)[place]);
        const uint64_t inside = number - uint64_t{slice} * per_slice;
        units[slot] = load_unit<Unit>(p.from, static_cast<int64_t>(from * p.slice_bytes + inside * sizeof(Unit)));
      },
      [&](Number number, int slot) {
        store_unit(p.to, static_cast<int64_t>(uint64_t{number} * sizeof(Unit)), units[slot]);
      });
}

}  // namespace

// Counts the found items of each chunk.
FERRULE_KERNEL(compaction_count, FoundItems, compaction_threads) {
  FERRULE_SHARED(uint32_t, found_by_warp, [compaction_warps]);
  uint32_t found = 0;
  with_unit<uint4>(p.item_bytes, [&](auto item) { found = found_bits<decltype(item)>(p); });
  const uint32_t sum = sum_up_to_lane(static_cast<uint32_t>(__popc(found)));
  if (threadIdx.x % 32 == 31) found_by_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int64_t total = 0;
  for (const uint32_t count : found_by_warp) total += count;
  pointer<int64_t>(p.places)[blockIdx.x] = total;
}

// Counts the found items before each chunk, and in all. One block handles 4096 chunks of 4096 items at a time. Limit:
// latency; the counts of the next chunks are loaded meanwhile.
FERRULE_KERNEL(compaction_places, CompactionPlacesParameters, 1024) {
  constexpr uint32_t per_thread = 4, per_round = 1024 * per_thread;
  FERRULE_SHARED(uint32_t, found_by_warp, [2][32]);  // by turns, so that one barrier is enough
  int64_t* const places = pointer<int64_t>(p.items.places);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t next[per_thread];  // a chunk has 4096 items: sums of a round are below 2^32
  const auto load = [&](uint64_t first) {
#pragma unroll
    for (uint32_t i = 0; i < per_thread; ++i)
      next[i] = first + i < p.items.chunks ? static_cast<uint32_t>(places[first + i]) : 0;
  };
  load(threadIdx.x * per_thread);
  int64_t total = 0;
  uint32_t turn = 0;
#pragma unroll 1
  for (uint64_t round = 0; round < p.items.chunks; round += per_round, turn ^= 1) {
    const uint64_t first = round + threadIdx.x * per_thread;
    uint32_t own[per_thread], own_sum = 0;
#pragma unroll
    for (uint32_t i = 0; i < per_thread; ++i) own_sum += own[i] = next[i];
    load(first + per_round);
    const uint32_t sum = sum_up_to_lane(own_sum);
    if (lane == 31) found_by_warp[turn][warp] = sum;
    __syncthreads();
    const uint32_t of_warp = found_by_warp[turn][lane], up_to_warp = sum_up_to_lane(of_warp);
    int64_t place = total + __shfl_sync(0xffffffffu, up_to_warp - of_warp, static_cast<int>(warp)) + (sum - own_sum);
#pragma unroll
    for (uint32_t i = 0; i < per_thread; ++i) {
      if (first + i < p.items.chunks) places[first + i] = place;
      place += own[i];
    }
    total += __shfl_sync(0xffffffffu, up_to_warp, 31);
  }
  if (threadIdx.x == 0) places[p.items.chunks] = *pointer<int64_t>(p.count) = total;
}

FERRULE_KERNEL(compaction_indices, CompactionIndicesParameters, compaction_threads) {
  for_each_found(p.items, [&](uint64_t position, uint64_t item) {
    if (position >= p.size) return;
    p.is_near != 0 ? write_indices(p, position, static_cast<uint32_t>(item)) : write_indices(p, position, item);
  });
  const auto total = static_cast<uint64_t>(pointer<const int64_t>(p.items.places)[p.items.chunks]);
  for (uint64_t i = total * p.rank + thread_number(); i < p.size * p.rank; i += thread_count())
    pointer<int64_t>(p.to)[i] = 0;
}

FERRULE_KERNEL(compaction_kept, CompactionKeptParameters, compaction_threads) {
  for_each_found(p.items, [&](uint64_t position, uint64_t item) {
    if (position < p.size) pointer<int64_t>(p.to)[position] = static_cast<int64_t>(item);
  });
}

FERRULE_KERNEL(compaction_slices, CompactionSlicesParameters, 256) {
  with_unit(unit_bytes(p.from | p.to | p.slice_bytes), [&](auto unit) {
    using Unit = decltype(unit);
    with_number(p.outer_count * p.size * (p.slice_bytes / sizeof(Unit)),
                [&](auto number) { copy_slices<Unit, decltype(number)>(p); });
  });
}

}  // namespace ferrule::cuda
