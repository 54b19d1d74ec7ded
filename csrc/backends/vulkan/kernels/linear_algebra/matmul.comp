// Matrix products through shared memory. A workgroup computes a tile of the result. In the variant f32_blocks, b has
// blocks, which are decoded on their way: a column is a row of blocks along K, and the strides of b are in bytes.
// variants: f32 f16 bf16 f64 u8 u16 u32 u64 f32_blocks
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "matmul.glsl"

// The sizes of a tile, and of the part that one invocation computes. The workgroup's size is TILE_M / OWN_M * TILE_N /
// OWN_N.
layout(constant_id = 3) const uint TILE_M = 64;
layout(constant_id = 4) const uint TILE_N = 64;
layout(constant_id = 5) const uint OWN_M = 4;
layout(constant_id = 6) const uint OWN_N = 4;
// Whether elements that are adjacent in memory are adjacent along K.
layout(constant_id = 7) const bool A_ALONG_K = true;
layout(constant_id = 8) const bool B_ALONG_K = false;
layout(constant_id = 9) const bool SEGMENTED = false;  // as in matmul.glsl
layout(constant_id = 10) const bool SPLIT = false;
#ifdef VARIANT_blocks
#define DTYPE_CONSTANT 11
layout(constant_id = 12) const uint BLOCK_ELEMENTS = 32;
layout(constant_id = 13) const uint BLOCK_BYTES = 18;
#include "../block_weights.glsl"
#endif

// One extra column, so that invocations that write along K do not conflict in one bank.
shared Value a_tile[STEP * (TILE_M + 1)];
shared Value b_tile[STEP * (TILE_N + 1)];

void spliced() {}

void main() {
  Parameters p = Parameters(push.parameters);
  const uint size = TILE_M / OWN_M * (TILE_N / OWN_N), own = gl_LocalInvocationIndex;
  uint segments = SPLIT ? (p.k + SEGMENT - 1) / SEGMENT : 1u;
  uint64_t group = invocation() / size, tiles_n = (p.n + TILE_N - 1) / TILE_N, tiles_m = (p.m + TILE_M - 1) / TILE_M;
  uint64_t rest = group / tiles_n;
  uint first_n = uint(group - rest * tiles_n) * TILE_N;
  group = rest / tiles_m;
  uint first_m = uint(rest - group * tiles_m) * TILE_M;
  uint64_t batch = group / segments;
  if (batch >= p.batches) return;
  uint segment = uint(group - batch * segments);
  uint64_t a = push.addresses.at[p.a_batches.value] + uint64_t(offset_in(p.a_batches, batch) * ITEM_BYTES);
#ifdef VARIANT_blocks
  uint64_t b = push.addresses.at[p.b_batches.value] + uint64_t(p.b_first + offset_in(p.b_batches, batch));
#else
  uint64_t b = push.addresses.at[p.b_batches.value] + uint64_t(offset_in(p.b_batches, batch) * ITEM_BYTES);
#endif

  // The elements of an invocation are as far apart as there are invocations in that direction.
  const uint across = TILE_N / OWN_N, down = TILE_M / OWN_M;
  uint own_n = own % across, own_m = own / across;
  Value sums[OWN_M * OWN_N], totals[OWN_M * OWN_N];
  for (uint i = 0; i < OWN_M * OWN_N; ++i) sums[i] = totals[i] = Value(0);

  uint start = SPLIT ? segment * SEGMENT : 0u, stop = SPLIT ? min(p.k, start + SEGMENT) : p.k;
  for (uint first_k = start; first_k < stop; first_k += STEP) {
    for (uint i = own; i < STEP * TILE_M; i += size) {
      uint along = A_ALONG_K ? i % STEP : i / TILE_M, row = A_ALONG_K ? i / STEP : i % TILE_M;
      uint m = first_m + row, k = first_k + along;
      Value value = Value(0);
      if (m < p.m && k < stop)
        value = value_at(a + bytes_to(m, p.a_row, k, p.a_column));
      a_tile[along * (TILE_M + 1) + row] = value;
    }
#ifdef VARIANT_blocks
    for (uint i = own; i < STEP / 8 * TILE_N; i += size) {
      uint column = i / (STEP / 8), along = i % (STEP / 8) * 8, n = first_n + column, k = first_k + along;
      if (n >= p.n || k >= stop) continue;  // the results of these columns are not stored; K has whole blocks
      float weights[8];
      decode(b + uint64_t(int64_t(n) * p.b_column) + k / BLOCK_ELEMENTS * BLOCK_BYTES, k % BLOCK_ELEMENTS, weights);
      for (uint j = 0; j < 8; ++j) b_tile[(along + j) * (TILE_N + 1) + column] = weights[j];
    }
#else
    for (uint i = own; i < STEP * TILE_N; i += size) {
      uint along = B_ALONG_K ? i % STEP : i / TILE_N, column = B_ALONG_K ? i / STEP : i % TILE_N;
      uint n = first_n + column, k = first_k + along;
      Value value = Value(0);
      if (n < p.n && k < stop)
        value = value_at(b + bytes_to(k, p.b_row, n, p.b_column));
      b_tile[along * (TILE_N + 1) + column] = value;
    }
#endif
    barrier();
    for (uint along = 0; along < STEP; ++along) {
      Value rows[OWN_M], columns[OWN_N];
      for (uint i = 0; i < OWN_M; ++i) rows[i] = a_tile[along * (TILE_M + 1) + own_m + i * down];
      for (uint j = 0; j < OWN_N; ++j) columns[j] = b_tile[along * (TILE_N + 1) + own_n + j * across];
      for (uint i = 0; i < OWN_M; ++i)
        for (uint j = 0; j < OWN_N; ++j) {
#if defined VARIANT_f32 || defined VARIANT_f16 || defined VARIANT_bf16 || defined VARIANT_f64
          precise Value sum = fma(rows[i], columns[j], sums[i * OWN_N + j]);
          sums[i * OWN_N + j] = sum;
#else
          sums[i * OWN_N + j] += rows[i] * columns[j];
#endif
        }
    }
    barrier();
    if (SEGMENTED && !SPLIT && (first_k + STEP) % SEGMENT == 0)
      for (uint i = 0; i < OWN_M * OWN_N; ++i) {
        totals[i] += sums[i];
        sums[i] = Value(0);
      }
  }

  // Set once per row and not once per element: drivers unroll loops over arrays in registers, and the spliced code may
  // be long.
  operands = Operands(push.parameters + uint64_t(PARAMETER_BYTES + p.codebook_bytes));
  partials = scratch_address() + segment * (p.batches * p.m * p.n) * VALUE_BYTES;
  for (uint i = 0; i < OWN_M; ++i) {
    uint m = first_m + own_m + i * down;
    for (uint j = 0; j < OWN_N; ++j) {
      Value sum = sums[i * OWN_N + j];
      b_tile[j * size + own] = SEGMENTED && !SPLIT ? totals[i * OWN_N + j] + sum : sum;
    }
    [[dont_unroll]] for (uint j = 0; j < OWN_N; ++j) {
      uint n = first_n + own_n + j * across;
      if (m >= p.m || n >= p.n) continue;
      element = uint64_t(int64_t(batch * p.m * p.n) + int64_t(uint64_t(m)) * p.to_row +
                         int64_t(uint64_t(n)) * p.to_column);
      result = b_tile[j * size + own];
      spliced();
    }
  }
}
