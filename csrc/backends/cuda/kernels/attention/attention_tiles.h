// Tiles of 16-bit items in shared memory, and what warps compute from them by matrix instructions: products of queries
// and keys, weights in two or three parts, weighted values.
#pragma once

#include "kernels/async_copies.h"
#include "kernels/attention/attention_rows.h"
#include "kernels/matrix_instructions.h"

namespace ferrule::cuda::attention {

// A matrix in shared memory, by rows. Chunks of 8 items (16 bytes) are permuted within a row, so that ldmatrix reads
// eight rows from different banks.
template <class Item, int columns>
struct Tile {
  static_assert(columns % 64 == 0 && sizeof(Item) == 2);
  Item* items;
  __device__ __forceinline__ Item* chunk(uint32_t row, uint32_t number) const {
    return items + row * columns + (number ^ (row & 7)) * 8;
  }
};

// Begins to copy `rows` rows of up to `columns` items by all threads of the block. `source(row)` is where a row begins;
// null stands for zeros. Fills `filled` items of each row, a multiple of 8: those from `width` on are zeros.
template <class Item, int columns, class Source>
__device__ __forceinline__ void copy_rows(Tile<Item, columns> to, uint32_t rows, uint32_t width, uint32_t filled,
                                          bool is_aligned, const Item* valid, const Source& source) {
  constexpr uint32_t chunks = columns / 8;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < rows * chunks; i += blockDim.x) {
    const uint32_t row = i / chunks, number = i % chunks, first = number * 8;
    if (first >= filled) continue;
    const Item* const from = source(row);
    if (is_aligned) {
      const bool is_there = from != nullptr && first < width;
      cp_async_16(to.chunk(row, number), is_there ? from + first : valid, is_there ? 16 : 0);
      continue;
    }
    uint32_t pairs[4];
#pragma unroll
    for (uint32_t k = 0; k < 8; ++k) {
      const uint32_t bits = from != nullptr && first + k < width ? from[first + k].bits : 0;
      pairs[k / 2] = k % 2 == 0 ? bits : pairs[k / 2] | bits << 16;
    }
    *reinterpret_cast<uint4*>(to.chunk(row, number)) = {pairs[0], pairs[1], pairs[2], pairs[3]};
  }
}

// Keys in a block.
template <int columns>
inline constexpr uint32_t key_block_of = columns <= 128 ? attention_wide_block : attention_block;

// The lane's part of 16 rows of scores for 8 keys: [0] and [1] belong to row lane / 4, [2] and [3] to row lane / 4 + 8;
// the keys are lane % 4 * 2 and the next one.
using Scores = float[4];

// Products of the 16 rows from `first_row` of the queries and 8 * key_tiles keys from `first_key`.
template <class Item, int columns, int key_tiles>
__device__ __forceinline__ void products(Tile<Item, columns> queries, uint32_t first_row, Tile<Item, columns> keys,
                                         uint32_t first_key, uint32_t head, Scores (&scores)[key_tiles]) {
  static_assert(key_tiles % 2 == 0);
  const uint32_t lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
#pragma unroll
  for (int n = 0; n < key_tiles; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) scores[n][e] = 0.0f;
#pragma unroll 1
  for (uint32_t chunk = 0; chunk * 8 < head; chunk += 2) {
    uint32_t a[4];
    ldmatrix_x4(a, queries.chunk(first_row + row + matrix % 2 * 8, chunk + matrix / 2));
#pragma unroll
    for (int n = 0; n < key_tiles; n += 2) {
      uint32_t b[4];
      ldmatrix_x4(b, keys.chunk(first_key + n * 8 + row + matrix / 2 * 8, chunk + matrix % 2));
      mma_m16n8k16<Item>(scores[n], a, {b[0], b[1]});
      mma_m16n8k16<Item>(scores[n + 1], a, {b[2], b[3]});
    }
  }
}

// A factor of all weights, so that no bits of small ones are lost in 16-bit floats; divided out with the total.
template <class Item>
inline constexpr float weight_factor = 1.0f;
template <>
inline constexpr float weight_factor<Half> = 32768.0f;

// Weights are multiplied in parts of 16 bits that add up to them. The error of two bfloat16 parts, 2^-17, is less than
// that of adding up 64 weights and their values in float32, 3 * 64 * 2^-24. Fewer keys get three parts.
inline constexpr int keys_in_three_parts = 64;
template <class Item>
__device__ __forceinline__ bool needs_three_parts(uint32_t keys) {
  return __is_same(Item, BFloat16) && keys <= keys_in_three_parts;
}
// Number of steps of a block, 16 keys each, that may have keys.
template <int parts>
__device__ constexpr int steps_with_keys(int steps) {
  return parts == 3 && steps > keys_in_three_parts / 16 ? keys_in_three_parts / 16 : steps;
}

// Scores of a block of keys for 16 rows become weights. `references` and `totals` are those of rows lane / 4 and lane /
// 4 + 8.
template <class Item, int key_tiles>
__device__ __forceinline__ void weigh(Scores (&scores)[key_tiles], float (&references)[2], float (&totals)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float greatest = -infinity;
#pragma unroll
    for (int n = 0; n < key_tiles; ++n) greatest = fmaxf(greatest, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffff, greatest, 1));
    greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffff, greatest, 2));
    references[half] = reference_of(greatest);
    const float base = subtrahend(references[half]);
    float total = 0.0f;
    // Adds by quarters, like the four warps of a decoding kernel.
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
      float sum = 0.0f;
#pragma unroll
      for (int n = quarter * key_tiles / 4; n < (quarter + 1) * key_tiles / 4; ++n)
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          scores[n][e] = power_of_two(scores[n][e] - base) * weight_factor<Item>;
          sum += scores[n][e];
        }
      total += sum;
    }
    total += __shfl_xor_sync(0xffffffff, total, 1);
    total += __shfl_xor_sync(0xffffffff, total, 2);
    totals[half] = total;
  }
}

// Splits the weights of two keys into parts.
template <class Item, int parts>
__device__ __forceinline__ void split(float low, float high, uint32_t (&to)[parts]) {
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    to[part] = packed<Item>(low, high);
    low -= to_float(Item{static_cast<uint16_t>(to[part])});
    high -= to_float(Item{static_cast<uint16_t>(to[part] >> 16)});
  }
}

// Splits the weights of 16 keys, two tiles of scores, into the fragments of `parts` matrix instructions.
template <class Item, int parts>
__device__ __forceinline__ void split_weights(const Scores* weights, uint32_t (*fragments)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint32_t pair[parts];
    const Scores& of_tile = weights[i / 2];
    split<Item, parts>(of_tile[i % 2 * 2], of_tile[i % 2 * 2 + 1], pair);
#pragma unroll
    for (int part = 0; part < parts; ++part) fragments[part][i] = pair[part];
  }
}

// Adds to `sums`, of 16 rows and 8 * value_tiles columns, the values of 16 keys with the weights `a[part]`.
template <class Item, int columns, int value_tiles, int parts>
__device__ __forceinline__ void add_values(Tile<Item, columns> values, uint32_t first_key, uint32_t first_column,
                                           const uint32_t (&a)[parts][4], Scores (&sums)[value_tiles]) {
  static_assert(value_tiles % 2 == 0);
  const uint32_t lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
  uint32_t b[value_tiles / 2][4];
#pragma unroll
  for (int n = 0; n < value_tiles / 2; ++n)
    ldmatrix_x4_transposed(b[n], values.chunk(first_key + row + matrix % 2 * 8, first_column / 8 + n * 2 + matrix / 2));
#pragma unroll
  for (int part = 0; part < parts; ++part)
#pragma unroll
    for (int n = 0; n < value_tiles; ++n)
      mma_m16n8k16<Item>(sums[n], a[part], {b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]});
}

// Divides the sums of 16 rows of queries from `first_row` on by their totals, and stores them.
template <class Item, int columns>
__device__ __forceinline__ void store_rows(const AttentionParameters& p, uint64_t batch, uint32_t first_row,
                                           const Scores (&sums)[columns / 8], const float (&totals)[2]) {
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t row = first_row + lane / 4 + half * 8;
    if (row >= p.queries) continue;
    Item* const to = pointer<Item>(p.to) + (batch * p.queries + row) * p.value_head;
    const bool in_pairs = p.value_head % 2 == 0 && (p.to & 3) == 0;
#pragma unroll
    for (int n = 0; n < columns / 8; ++n) {
      const uint32_t column = n * 8 + lane % 4 * 2;
      const float low = quotient<Item>(sums[n][2 * half], totals[half]);
      const float high = quotient<Item>(sums[n][2 * half + 1], totals[half]);
      if (column >= p.value_head) continue;
      if (in_pairs) {
        *reinterpret_cast<uint32_t*>(to + column) = packed<Item>(low, high);
        continue;
      }
      to[column] = from_float<Item>(low);
      if (column + 1 < p.value_head) to[column + 1] = from_float<Item>(high);
    }
  }
}

// The number of columns of a tile that must be filled for the functions above.
__device__ __forceinline__ uint32_t filled_head(uint32_t head) { return (head + 15) / 16 * 16; }
__device__ __forceinline__ uint32_t filled_values(uint32_t value_head) { return (value_head + 31) / 32 * 32; }

}  // namespace ferrule::cuda::attention
