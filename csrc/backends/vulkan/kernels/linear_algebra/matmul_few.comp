// Products of a few rows with a matrix whose rows are contiguous. An invocation computes a column of the result: it
// reads its column of the matrix once, without shared memory, and gets the rows' elements from its subgroup.
// variants: subgroup_f32 subgroup_f16 subgroup_bf16
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "matmul.glsl"

layout(constant_id = 3) const uint ROWS = 1;
layout(constant_id = 4) const bool SEGMENTED = false;  // as in matmul.glsl
layout(constant_id = 5) const bool SPLIT = false;

void spliced() {}

void main() {
  Parameters p = Parameters(push.parameters);
  uint segments = SPLIT ? (p.k + SEGMENT - 1) / SEGMENT : 1u, size = gl_WorkGroupSize.x;
  uint64_t group = invocation() / size, tiles_n = (p.n + size - 1) / size, tiles_m = (p.m + ROWS - 1) / ROWS;
  uint64_t rest = group / tiles_n;
  uint n = uint(group - rest * tiles_n) * size + own_index();
  group = rest / tiles_m;
  uint first_m = uint(rest - group * tiles_m) * ROWS;
  uint64_t batch = group / segments;
  if (batch >= p.batches) return;  // the whole workgroup returns
  uint segment = uint(group - batch * segments);
  uint64_t a = push.addresses.at[p.a_batches.value] + uint64_t(offset_in(p.a_batches, batch) * ITEM_BYTES);
  uint64_t b = push.addresses.at[p.b_batches.value] + uint64_t(offset_in(p.b_batches, batch) * ITEM_BYTES);
  bool counts = n < p.n;

  Value sums[ROWS], totals[ROWS], rows[ROWS];
  for (uint i = 0; i < ROWS; ++i) sums[i] = totals[i] = Value(0);
  uint start = SPLIT ? segment * SEGMENT : 0u, stop = SPLIT ? min(p.k, start + SEGMENT) : p.k;
  uint padded = (stop + STEP - 1) / STEP * STEP;
  for (uint first_k = start; first_k < padded; first_k += gl_SubgroupSize) {
    // Each invocation of the subgroup reads one of the next elements of each row.
    uint own_k = first_k + gl_SubgroupInvocationID;
    for (uint i = 0; i < ROWS; ++i) {
      uint m = first_m + i;
      rows[i] = m < p.m && own_k < stop ? value_at(a + bytes_to(m, p.a_row, own_k, p.a_column)) : Value(0);
    }
    for (uint from = 0; from < min(gl_SubgroupSize, padded - first_k); ++from) {
      uint k = first_k + from;
      Value column = counts && k < stop ? value_at(b + bytes_to(k, p.b_row, n, p.b_column)) : Value(0);
      for (uint i = 0; i < ROWS; ++i) {
        precise Value sum = fma(subgroupShuffle(rows[i], from), column, sums[i]);
        sums[i] = sum;
      }
    }
    if (SEGMENTED && !SPLIT && (first_k + gl_SubgroupSize) % SEGMENT == 0)
      for (uint i = 0; i < ROWS; ++i) {
        totals[i] += sums[i];
        sums[i] = Value(0);
      }
  }

  operands = Operands(push.parameters + uint64_t(PARAMETER_BYTES));
  partials = scratch_address() + segment * (p.batches * p.m * p.n) * VALUE_BYTES;
  // The spliced code may be long: it appears once in this loop, which selects the row's sum for it.
  [[dont_unroll]] for (uint row = 0; row < min(ROWS, p.m - first_m); ++row) {
    if (!counts) continue;
    for (uint i = 0; i < ROWS; ++i)
      if (i == row) result = SEGMENTED && !SPLIT ? totals[i] + sums[i] : sums[i];
    element = uint64_t(int64_t(batch * p.m * p.n) + int64_t(uint64_t(first_m + row)) * p.to_row +
                       int64_t(uint64_t(n)) * p.to_column);
    spliced();
  }
}
