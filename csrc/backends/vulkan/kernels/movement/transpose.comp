// Copies an array in which adjacent elements lie along another axis than the last one. Each workgroup moves a tile of
// these two axes through shared memory, so that both its reads and its writes are contiguous.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../item.glsl"

#define TILE 32
#define PITCH (TILE + 1)  // so that neither rows nor columns of the tile conflict in one bank

// `from` and `to` are the strides in the array and in the result.
struct Axis {
  int64_t size, from, to;
};

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Axis axes[MAX_RANK];  // the axis contiguous in the result, the axis contiguous in the array, the others
  uint rank, tiles, from, to;
};

shared Wide tile[TILE * PITCH];

int64_t wide(uint x) { return int64_t(uint64_t(x)); }
uint tiles_along(Axis axis) { return uint((axis.size + (TILE - 1)) / TILE); }
uint within(Axis axis, int64_t start) { return uint(min(axis.size - start, int64_t(TILE))); }

// Removes the last digit, of base `size`, from a number.
int64_t digit_of(inout uint number, uint size) {
  uint rest = number / size, digit = number - rest * size;
  number = rest;
  return wide(digit);
}

void main() {
  Parameters p = Parameters(push.parameters);
  uint number = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  if (number >= p.tiles) return;
  Axis across = p.axes[0], along = p.axes[1];
  int64_t first_column = digit_of(number, tiles_along(across)) * TILE;
  int64_t first_row = digit_of(number, tiles_along(along)) * TILE;
  int64_t from = first_column * across.from + first_row * along.from;
  int64_t to = first_column * across.to + first_row * along.to;
  for (uint k = 2; k < p.rank; ++k) {
    int64_t at = digit_of(number, uint(p.axes[k].size));
    from += at * p.axes[k].from;
    to += at * p.axes[k].to;
  }

  uint columns = within(across, first_column), rows = within(along, first_row);
  uint64_t source = push.addresses.at[p.from], target = push.addresses.at[p.to];
  for (uint i = gl_LocalInvocationIndex; i < TILE * TILE; i += gl_WorkGroupSize.x) {
    uint column = i / TILE, row = i % TILE;
    if (column < columns && row < rows)
      tile[column * PITCH + row] = Wide(item_at(source, from + wide(column) * across.from + wide(row) * along.from).at);
  }
  barrier();
  for (uint i = gl_LocalInvocationIndex; i < TILE * TILE; i += gl_WorkGroupSize.x) {
    uint column = i % TILE, row = i / TILE;
    if (column < columns && row < rows)
      item_at(target, to + wide(column) * across.to + wide(row) * along.to).at = Narrow(tile[column * PITCH + row]);
  }
}
