// The elements that a thread computes: groups of four, whose numbers are adjacent.
#pragma once

#include "kernels/elementwise/computed_types.h"

namespace ferrule::cuda::elementwise {

inline constexpr int group_size = 4;

// The elements of a thread: `groups` groups, each `step` elements after the one before. The first element exists.
template <int groups>
struct Elements {
  static constexpr int items = groups * group_size;
  uint64_t count, first;
  uint32_t step;

  __device__ __forceinline__ uint64_t begin() const { return first; }
  // Distance from the first element to that of an item.
  __device__ __forceinline__ uint32_t distance(int item) const {
    return static_cast<uint32_t>(item / group_size) * step + static_cast<uint32_t>(item % group_size);
  }
  // Whether the element of this item exists. One that does not repeats the first, and is not written.
  __device__ __forceinline__ bool has(int item) const { return first + distance(item) < count; }
  __device__ __forceinline__ uint64_t number(int item) const { return has(item) ? first + distance(item) : first; }
  // Whether a group has four elements.
  __device__ __forceinline__ bool is_whole(int group) const { return has(group * group_size + group_size - 1); }
  __device__ __forceinline__ bool are_whole() const { return has(items - 1); }
  // Whether the groups follow each other.
  __device__ __forceinline__ bool are_adjacent() const { return groups == 1; }
};

// Blocks have this many threads; as a constant, it saves registers.
inline constexpr uint32_t block_threads = 256;

// The elements of a thread where a block shares a tile of elements. Everything is computed from what all threads have
// in common, so that little stays in registers; places in the tile have 32 bits. The groups of a thread are as far
// apart as the block is wide, so that threads next to each other read memory that is adjacent, or they follow each
// other.
enum class Adjacency { always, never, of_program };
template <int groups, Adjacency adjacency>
struct TileElements {
  static constexpr int items = groups * group_size;
  static constexpr uint32_t size = block_threads * items;
  const uint64_t& count;
  const uint32_t& is_adjacent;

  __device__ __forceinline__ bool are_adjacent() const {
    return adjacency == Adjacency::always || (adjacency == Adjacency::of_program && is_adjacent != 0);
  }
  __device__ __forceinline__ uint32_t own() const {
    return thread_in_block() * (are_adjacent() ? uint32_t{items} : uint32_t{group_size});
  }
  __device__ __forceinline__ uint64_t tile() const { return uint64_t{block_in_grid()} * size; }
  __device__ __forceinline__ uint32_t left() const {
    const uint64_t left = count - tile();
    return left < size ? static_cast<uint32_t>(left) : size;
  }
  __device__ __forceinline__ uint64_t begin() const { return tile() + own(); }
  __device__ __forceinline__ uint32_t distance(int item) const {
    const uint32_t step = are_adjacent() ? uint32_t{group_size} : block_threads * group_size;
    return static_cast<uint32_t>(item / group_size) * step + static_cast<uint32_t>(item % group_size);
  }
  __device__ __forceinline__ bool has(int item) const { return own() + distance(item) < left(); }
  __device__ __forceinline__ uint64_t number(int item) const { return begin() + (has(item) ? distance(item) : 0); }
  __device__ __forceinline__ bool is_whole(int group) const { return has(group * group_size + group_size - 1); }
  __device__ __forceinline__ bool are_whole() const { return has(items - 1); }
};

}  // namespace ferrule::cuda::elementwise
