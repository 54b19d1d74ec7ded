// Matrix products of float16 with cooperative matrices. A workgroup computes a tile of 64 by 64 of the result.
//
// The device chooses the order in which it adds the 16 products of a step, and uses it for all elements. So all float16
// products of a device use this shader or none does, whatever their size.
// variants: subgroup_simulated_f16 subgroup_khr_f16
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "cooperative_matrix.glsl"
#include "matmul.glsl"

#define TILE 64
#define TILES (TILE / SIDE)  // a workgroup computes TILES x TILES matrices

layout(constant_id = 4) const bool A_ALONG_K = true;  // as in matmul.comp
layout(constant_id = 5) const bool B_ALONG_K = false;
layout(constant_id = 6) const bool SEGMENTED = false;  // as in matmul.glsl
layout(constant_id = 7) const bool SPLIT = false;

float16_t half_at(uint64_t address) { return uint16BitsToFloat16(RefU16(address).at); }

void spliced() {}

void main() {
  Parameters p = Parameters(push.parameters);
  const uint size = gl_WorkGroupSize.x, own = own_index(), own_tiles = (TILES * TILES + SUBGROUPS - 1) / SUBGROUPS;
  uint segments = SPLIT ? (p.k + SEGMENT - 1) / SEGMENT : 1u;
  uint64_t group = invocation() / size, tiles_n = (p.n + TILE - 1) / TILE, tiles_m = (p.m + TILE - 1) / TILE;
  uint64_t rest = group / tiles_n;
  uint first_n = uint(group - rest * tiles_n) * TILE;
  group = rest / tiles_m;
  uint first_m = uint(rest - group * tiles_m) * TILE;
  uint64_t batch = group / segments;
  if (batch >= p.batches) return;  // the whole workgroup returns
  uint segment = uint(group - batch * segments);
  uint64_t a = push.addresses.at[p.a_batches.value] + uint64_t(offset_in(p.a_batches, batch) * ITEM_BYTES);
  uint64_t b = push.addresses.at[p.b_batches.value] + uint64_t(offset_in(p.b_batches, batch) * ITEM_BYTES);

  Sums sums[own_tiles], totals[own_tiles];
  for (uint i = 0; i < own_tiles; ++i) sums[i] = totals[i] = zeros();
  uint start = SPLIT ? segment * SEGMENT : 0u, stop = SPLIT ? min(p.k, start + SEGMENT) : p.k;
  for (uint first_k = start; first_k < stop; first_k += STEP) {
    for (uint i = own; i < TILE * STEP; i += size) {
      uint along = A_ALONG_K ? i % STEP : i / TILE, row = A_ALONG_K ? i / STEP : i % TILE;
      uint m = first_m + row, k = first_k + along;
      left_tile[row * LEFT_ROW + along] =
          m < p.m && k < stop ? half_at(a + bytes_to(m, p.a_row, k, p.a_column)) : float16_t(0.0);
    }
    for (uint i = own; i < TILE * STEP; i += size) {
      uint along = B_ALONG_K ? i % STEP : i / TILE, column = B_ALONG_K ? i / STEP : i % TILE;
      uint n = first_n + column, k = first_k + along;
      right_tile[along * RIGHT_ROW + column] =
          n < p.n && k < stop ? half_at(b + bytes_to(k, p.b_row, n, p.b_column)) : float16_t(0.0);
    }
    barrier();
    for (uint i = 0; i < own_tiles; ++i) {
      uint tile = gl_SubgroupID + i * SUBGROUPS;
      if (tile < TILES * TILES)
        sums[i] = plus_product(sums[i], tile / TILES * SIDE * LEFT_ROW, tile % TILES * SIDE);
    }
    barrier();
    if (SEGMENTED && !SPLIT && (first_k + STEP) % SEGMENT == 0)
      for (uint i = 0; i < own_tiles; ++i) {
        totals[i] = plus(totals[i], sums[i]);
        sums[i] = zeros();
      }
  }

  operands = Operands(push.parameters + uint64_t(PARAMETER_BYTES));
  partials = scratch_address() + segment * (p.batches * p.m * p.n) * VALUE_BYTES;
  uint own_sums = gl_SubgroupID * SIDE * SIDE;
  for (uint i = 0; i < own_tiles; ++i) {
    uint tile = gl_SubgroupID + i * SUBGROUPS;
    if (tile < TILES * TILES) put(SEGMENTED && !SPLIT ? plus(totals[i], sums[i]) : sums[i], own_sums);
    barrier();
    [[dont_unroll]] for (uint j = gl_SubgroupInvocationID; j < SIDE * SIDE; j += gl_SubgroupSize) {
      uint m = first_m + tile / TILES * SIDE + j / SIDE, n = first_n + tile % TILES * SIDE + j % SIDE;
      if (tile >= TILES * TILES || m >= p.m || n >= p.n) continue;
      element = uint64_t(int64_t(batch * p.m * p.n) + int64_t(uint64_t(m)) * p.to_row +
                         int64_t(uint64_t(n)) * p.to_column);
      result = sums_tile[own_sums + j];
      spliced();
    }
    barrier();
  }
}
