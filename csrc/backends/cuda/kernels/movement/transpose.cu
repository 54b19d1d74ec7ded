// Copies an array in which adjacent elements lie along another axis than the last one. Each block moves a tile of these
// two axes through shared memory, so that both its reads and its writes are contiguous, and up to 16 bytes wide. Limit:
// bytes of memory; a block has 8 to 16 KiB in flight.
#include "kernels/movement/transpose.h"

#include <type_traits>

#include "kernels/movement/units.h"

namespace ferrule::cuda {
namespace {

struct Tile {
  uint32_t across_bits, along_bits, pitch;
  uint32_t columns, rows;  // that the array has of axes[0] and axes[1]
};

// Place in shared memory of an item.
template <class Item>
__device__ __forceinline__ uint32_t place_in(const Tile& tile, uint32_t column, uint32_t row) {
  using T = TransposeTile<sizeof(Item)>;
  return column * tile.pitch + column / T::group * T::after_group + row;
}

// `width` items that are accessed together where they are adjacent and aligned.
template <class Item, int width>
struct alignas(sizeof(Item) * width) Group {
  Item items[width];
};

// Items of a group in shared memory, which are written as words and read as items.
using SharedWord = uint32_t __attribute__((may_alias));

// Number of accesses of each thread to a group, and of accesses that are in flight together.
template <class Item, int width>
struct Rounds {
  static constexpr uint32_t width_bits = width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : width == 8 ? 3 : 4;
  static constexpr uint32_t side = 1u << TransposeTile<sizeof(Item)>::bits;
  static constexpr uint32_t total = side * side / (width * transpose_threads);
  static constexpr uint32_t batch = total < 8 ? total : 8;
  static_assert(total % batch == 0);
};

// Reads groups along the rows of a column.
template <class Item, int width>
__device__ __forceinline__ void read_tile(const Tile& tile, Item* shared, const Item* from, int64_t across,
                                          int64_t along) {
  using R = Rounds<Item, width>;
  const uint32_t bits = tile.along_bits - R::width_bits;  // groups of a column
  for (uint32_t round = 0; round < R::total; round += R::batch) {
    Group<Item, width> groups[R::batch];
#pragma unroll
    for (uint32_t i = 0; i < R::batch; ++i) {
      const uint32_t number = threadIdx.x + (round + i) * transpose_threads;
      const uint32_t row = (number & ((1u << bits) - 1)) * width, column = number >> bits;
      if (column >= tile.columns || row >= tile.rows) continue;
      const Item* const at = from + column * across + row * along;
      if (width > 1 && row + width <= tile.rows) {
        groups[i] = *reinterpret_cast<const Group<Item, width>*>(at);
        continue;
      }
#pragma unroll
      for (int k = 0; k < width; ++k)
        if (row + k < tile.rows) groups[i].items[k] = at[k * along];
    }
#pragma unroll
    for (uint32_t i = 0; i < R::batch; ++i) {
      const uint32_t number = threadIdx.x + (round + i) * transpose_threads;
      const uint32_t row = (number & ((1u << bits) - 1)) * width, column = number >> bits;
      if (column >= tile.columns || row >= tile.rows) continue;
      // The places beyond the array's rows exist, too.
      Item* const to = shared + place_in<Item>(tile, column, row);
      if constexpr (sizeof(Item) < 4 && sizeof(Item) * width >= 4) {
        constexpr int words = sizeof(Item) * width / 4;
        uint32_t word[words];
        memcpy(word, &groups[i], sizeof word);
#pragma unroll
        for (int k = 0; k < words; ++k) reinterpret_cast<SharedWord*>(to)[k] = word[k];
      } else {
#pragma unroll
        for (int k = 0; k < width; ++k) to[k] = groups[i].items[k];
      }
    }
  }
}

// Writes groups along the columns of a row.
template <class Item, int width>
__device__ __forceinline__ void write_tile(const Tile& tile, const Item* shared, Item* to, int64_t across,
                                           int64_t along) {
  using R = Rounds<Item, width>;
  const uint32_t bits = tile.across_bits - R::width_bits;
#pragma unroll
  for (uint32_t i = 0; i < R::total; ++i) {
    const uint32_t number = threadIdx.x + i * transpose_threads;
    const uint32_t column = (number & ((1u << bits) - 1)) * width, row = number >> bits;
    if (column >= tile.columns || row >= tile.rows) continue;
    Group<Item, width> group;
#pragma unroll
    for (int k = 0; k < width; ++k) group.items[k] = shared[place_in<Item>(tile, column + k, row)];
    Item* const at = to + column * across + row * along;
    if (width > 1 && column + width <= tile.columns) {
      *reinterpret_cast<Group<Item, width>*>(at) = group;
      continue;
    }
#pragma unroll
    for (int k = 0; k < width; ++k)
      if (column + k < tile.columns) at[k * across] = group.items[k];
  }
}

// Calls `work` with the number of items that a thread may access together.
template <class Item, class Work>
__device__ __forceinline__ void with_width(bool is_contiguous, uint64_t alignment, const Work& work) {
  constexpr int bytes = sizeof(Item);
  const uint32_t unit = is_contiguous ? unit_bytes(alignment) : bytes;
  if constexpr (bytes < 16)
    if (unit == 16) return work(std::integral_constant<int, 16 / bytes>{});
  if constexpr (bytes < 8)
    if (unit == 8) return work(std::integral_constant<int, 8 / bytes>{});
  work(std::integral_constant<int, 1>{});
}

// Removes the last digit, of base `size`, from a number.
__device__ __forceinline__ uint32_t digit_of(uint32_t& number, uint32_t size) {
  const uint32_t rest = number / size, digit = number - rest * size;
  number = rest;
  return digit;
}
__device__ __forceinline__ uint32_t tiles_along(int64_t size, uint32_t bits) {
  return static_cast<uint32_t>((size + (int64_t{1} << bits) - 1) >> bits);
}
__device__ __forceinline__ uint32_t within(int64_t size, int64_t start, uint32_t bits) {
  const int64_t left = size - start, most = int64_t{1} << bits;
  return static_cast<uint32_t>(left < most ? left : most);
}

template <class Item>
__device__ __forceinline__ void transpose(const TransposeParameters& p) {
  FERRULE_DYNAMIC_SHARED(Item, shared);
  const TransposedAxis across = p.axes[0], along = p.axes[1];
  uint32_t number = blockIdx.x;
  const int64_t first_column = int64_t{digit_of(number, tiles_along(across.size, p.across_bits))} << p.across_bits;
  const int64_t first_row = int64_t{digit_of(number, tiles_along(along.size, p.along_bits))} << p.along_bits;
  int64_t from = first_column * across.from + first_row * along.from;
  int64_t to = first_column * across.to + first_row * along.to;
  for (uint32_t axis = 2; axis < p.rank; ++axis) {
    const int64_t at = digit_of(number, static_cast<uint32_t>(p.axes[axis].size));
    from += at * p.axes[axis].from;
    to += at * p.axes[axis].to;
  }
  const Tile tile = {p.across_bits, p.along_bits, p.pitch, within(across.size, first_column, p.across_bits),
                     within(along.size, first_row, p.along_bits)};
  const Item* const source = pointer<const Item>(p.from) + from;
  Item* const target = pointer<Item>(p.to) + to;
  with_width<Item>(along.from == 1, p.from | p.from_alignment,
                   [&](auto width) { read_tile<Item, width.value>(tile, shared, source, across.from, along.from); });
  __syncthreads();
  with_width<Item>(across.to == 1, p.to | p.to_alignment,
                   [&](auto width) { write_tile<Item, width.value>(tile, shared, target, across.to, along.to); });
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(transpose_u8, TransposeParameters, transpose_threads, 4) { transpose<uint8_t>(p); }
FERRULE_KERNEL(transpose_u16, TransposeParameters, transpose_threads) { transpose<uint16_t>(p); }
FERRULE_KERNEL(transpose_u32, TransposeParameters, transpose_threads) { transpose<uint32_t>(p); }
FERRULE_KERNEL(transpose_u64, TransposeParameters, transpose_threads) { transpose<uint64_t>(p); }
FERRULE_KERNEL(transpose_u128, TransposeParameters, transpose_threads) { transpose<Unit16>(p); }
