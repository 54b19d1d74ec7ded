// Copies an array in which adjacent elements lie along another axis than the last one. Each threadgroup moves a tile of
// these two axes through its memory, so that both its reads and its writes are contiguous. The including text defines
// `Item`, an unsigned integer of an element's size.
#pragma once
#include "interface.metal"

constant uint tile_size = 32;
constant uint pitch = tile_size + 1;  // so that neither rows nor columns of the tile conflict in one bank

// `from` and `to` are the strides in the array and in the result.
struct Axis {
  long size, from, to;
};
struct Parameters {
  Axis axes[MAX_RANK];  // the axis contiguous in the result, the axis contiguous in the array, the others
  uint rank, tiles;
};

inline uint tiles_along(constant Axis& axis) { return uint((axis.size + (tile_size - 1)) / tile_size); }
inline uint within(constant Axis& axis, long start) {
  const long left = axis.size - start;
  return left < tile_size ? uint(left) : tile_size;
}

kernel void transpose_tiles(device const Item* from [[buffer(0)]], device Item* to [[buffer(1)]],
                            constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  FERRULE_THREADGROUP(Item, tile, [32 * 33]);
  const ulong number = group_number(group, groups);
  if (number >= p.tiles) return;  // the whole threadgroup
  constant Axis& across = p.axes[0];
  constant Axis& along = p.axes[1];
  uint rest = uint(number) / tiles_along(across);
  const long first_column = long(uint(number) - rest * tiles_along(across)) * tile_size;
  uint next = rest / tiles_along(along);
  const long first_row = long(rest - next * tiles_along(along)) * tile_size;
  long read = first_column * across.from + first_row * along.from;
  long written = first_column * across.to + first_row * along.to;
  for (uint k = 2; k < p.rank; ++k) {
    rest = next;
    next = rest / uint(p.axes[k].size);
    const long at = rest - next * uint(p.axes[k].size);
    read += at * p.axes[k].from;
    written += at * p.axes[k].to;
  }

  const uint columns = within(across, first_column), rows = within(along, first_row);
  for (uint i = own; i < tile_size * tile_size; i += group_shape.x) {
    const uint column = i / tile_size, row = i % tile_size;
    if (column < columns && row < rows)
      tile[column * pitch + row] = from[read + column * across.from + row * along.from];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = own; i < tile_size * tile_size; i += group_shape.x) {
    const uint column = i % tile_size, row = i / tile_size;
    if (column < columns && row < rows) to[written + column * across.to + row * along.to] = tile[column * pitch + row];
  }
}
