// Finds the items that are not zero, in their order: a count of each chunk, a sum over the chunks, and then a second
// reading that knows where to write. Limit: bytes of memory.
#include "kernels/compaction/compaction.h"

#include "kernels/movement/units.h"

namespace ferrule::cuda {
namespace {

constexpr uint32_t steps = compaction_chunk / compaction_threads, warps = compaction_threads / 32;

__device__ __forceinline__ bool is_nonzero(const FoundItems& p, uint64_t item) {
  if (item >= p.length) return false;
  switch (p.item_bytes) {
    case 1:
      return (pointer<const uint8_t>(p.x)[item] & p.mask) != 0;
    case 2:
      return (pointer<const uint16_t>(p.x)[item] & p.mask) != 0;
    case 4:
      return (pointer<const uint32_t>(p.x)[item] & p.mask) != 0;
    case 8:
      return (pointer<const uint64_t>(p.x)[item] & p.mask) != 0;
    default:
      return ((pointer<const uint64_t>(p.x)[2 * item] | pointer<const uint64_t>(p.x)[2 * item + 1]) & p.mask) != 0;
  }
}

// Calls `write(position, item)` for each item of the block's chunk that is not zero.
template <class Write>
__device__ __forceinline__ void for_each_found(const FoundItems& p, const Write& write) {
  FERRULE_SHARED(uint32_t, before, [steps * warps]);  // of each 32 items
  const uint64_t first = uint64_t{blockIdx.x} * compaction_chunk + threadIdx.x;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t found[steps];
#pragma unroll
  for (uint32_t step = 0; step < steps; ++step) {
    found[step] = __ballot_sync(0xffffffffu, is_nonzero(p, first + step * compaction_threads));
    if (lane == 0) before[step * warps + warp] = static_cast<uint32_t>(__popc(found[step]));
  }
  __syncthreads();
  // An inclusive sum over the lists of 32 items.
  static_assert(steps * warps <= compaction_threads);
#pragma unroll 1
  for (uint32_t gap = 1; gap < steps * warps; gap *= 2) {
    const bool adds = threadIdx.x < steps * warps && threadIdx.x >= gap;
    const uint32_t more = adds ? before[threadIdx.x - gap] : 0;
    __syncthreads();
    if (adds) before[threadIdx.x] += more;
    __syncthreads();
  }
  const auto start = static_cast<uint64_t>(pointer<const int64_t>(p.places)[blockIdx.x]);
#pragma unroll
  for (uint32_t step = 0; step < steps; ++step) {
    if ((found[step] >> lane & 1u) == 0) continue;
    const uint32_t list = step * warps + warp, earlier = list == 0 ? 0 : before[list - 1];
    write(start + earlier + static_cast<uint32_t>(__popc(found[step] & ((1u << lane) - 1))),
          first + step * compaction_threads);
  }
}

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

// How many there are in each chunk.
FERRULE_KERNEL(compaction_count, FoundItems, compaction_threads) {
  const uint64_t first = uint64_t{blockIdx.x} * compaction_chunk + threadIdx.x;
  int64_t found = 0;
#pragma unroll 1
  for (uint32_t step = 0; step < steps; ++step)
    found += __syncthreads_count(is_nonzero(p, first + step * compaction_threads) ? 1 : 0);
  if (threadIdx.x == 0) pointer<int64_t>(p.places)[blockIdx.x] = found;
}

// How many there are before each chunk, and in all. By one block: there is a chunk for 4096 items.
FERRULE_KERNEL(compaction_places, CompactionPlacesParameters, 1024) {
  FERRULE_SHARED(int64_t, sums, [1024]);
  int64_t* const places = pointer<int64_t>(p.items.places);
  int64_t total = 0;
#pragma unroll 1
  for (uint64_t first = 0; first < p.items.chunks; first += 1024) {
    const uint64_t chunk = first + threadIdx.x;
    const int64_t own = chunk < p.items.chunks ? places[chunk] : 0;
    sums[threadIdx.x] = own;
    __syncthreads();
#pragma unroll 1
    for (uint32_t gap = 1; gap < 1024; gap *= 2) {
      const int64_t more = threadIdx.x >= gap ? sums[threadIdx.x - gap] : 0;
      __syncthreads();
      sums[threadIdx.x] += more;
      __syncthreads();
    }
    if (chunk < p.items.chunks) places[chunk] = total + sums[threadIdx.x] - own;
    total += sums[1023];
    __syncthreads();
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
