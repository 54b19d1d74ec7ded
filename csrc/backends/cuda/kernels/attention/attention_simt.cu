// Attention without matrix instructions: of float32, and of 16-bit items before compute capability 8.0. A thread block
// has 64 rows, or 16 for few queries. 16 threads share a row: in scores thread t has keys t, t + 16, ...; in values it
// has columns 4 t to 4 t + 3 of each 64. Items pass through shared memory as float32. The limit is the rate of fma, or
// of memory for few queries, for which each block of keys has a thread block of its own (attention_combine.cu).
#include "kernels/attention/attention_rows.h"

namespace ferrule::cuda::attention {
namespace {

constexpr uint32_t key_block = attention_block, threads = attention_simt_threads;
constexpr uint32_t step = 32, pitch = step + 4;  // elements of queries and keys at a time
constexpr uint32_t column_step = 64;             // of values
constexpr uint32_t weight_pitch = key_block + 4;

// Copies `rows` rows of `width` elements, of which those from `valid` on are zeros. `source(row)` is where a row
// begins; null stands for zeros.
template <class Item, class Source>
__device__ __forceinline__ void copy_rows(float* to, uint32_t to_pitch, uint32_t rows, uint32_t width, uint32_t valid,
                                          bool in_vectors, const Source& source) {
  const uint32_t per_row = width / 4;
#pragma unroll 2
  for (uint32_t i = threadIdx.x; i < rows * per_row; i += threads) {
    const uint32_t row = i / per_row, column = i % per_row * 4;
    const Item* const from = source(row);
    float4 four = {0.0f, 0.0f, 0.0f, 0.0f};
    if (from != nullptr && column < valid) {
      if (in_vectors) {
        struct alignas(4 * sizeof(Item)) Four {
          Item items[4];
        };
        const Four found = *reinterpret_cast<const Four*>(from + column);
        four = {to_float(found.items[0]), to_float(found.items[1]), to_float(found.items[2]), to_float(found.items[3])};
      } else {
        four.x = to_float(from[column]);
        if (column + 1 < valid) four.y = to_float(from[column + 1]);
        if (column + 2 < valid) four.z = to_float(from[column + 2]);
        if (column + 3 < valid) four.w = to_float(from[column + 3]);
      }
    }
    *reinterpret_cast<float4*>(to + row * to_pitch + column) = four;
  }
}

// `own_rows` rows of a thread: ty, ty + 16, ... Groups have one member if there are several.
template <class Item, int columns, int own_rows, bool is_part>
__device__ void attend(const AttentionParameters& p) {
  constexpr uint32_t rows = 16 * own_rows;
  constexpr int column_steps = columns / column_step;
  constexpr uint32_t vector = 4 * sizeof(Item);
  FERRULE_SHARED(float, weights, [rows][weight_pitch]);
  // Queries and keys, or values.
  FERRULE_SHARED(float, stage, [2 * key_block * pitch]);
  static_assert(!is_part || own_rows == 1);
  static_assert(key_block * column_step <= sizeof stage / sizeof(float) && rows <= key_block);
  float* const key_stage = stage + key_block * pitch;

  uint32_t keys;
  if (!count_keys(p, p.fault, p.op, keys)) return;
  const uint32_t tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const uint64_t number = blockIdx.x / p.blocks, batch = number / p.tiles;
  const uint32_t first_row = (p.tiles - 1 - static_cast<uint32_t>(number % p.tiles)) * rows;
  const uint32_t all_rows = p.group * p.queries;
  using P = AttentionParameters;
  FERRULE_SHARED(Address, begins, [P::operands]);
  find_batch<Item>(p, batch, begins);
  const bool has_rows = first_row + ty < all_rows;
  float sums[own_rows][column_steps][4] = {};
  float references[own_rows], totals[own_rows];
#pragma unroll
  for (int r = 0; r < own_rows; ++r) {
    references[r] = -infinity;
    totals[r] = 0.0f;
  }
  uint32_t first_block = 0, end = keys;
  if (is_part) {
    first_block = blockIdx.x % p.blocks;
    end = min(keys, (first_block + 1) * key_block);
  } else {
    end = keys_before(p, keys, min(first_row + rows, p.queries) - 1);
  }
  const uint64_t place_of_part = (batch * p.blocks + first_block) * all_rows + first_row + ty;
  for (uint32_t block = first_block; block * key_block < end; ++block) {
    const uint32_t first_key = block * key_block;
    float scores[own_rows][4] = {};
    for (uint32_t first = 0; first < p.head; first += step) {
      __syncthreads();
      const Address query = begins[P::query], key = begins[P::key];
      copy_rows<Item>(stage, pitch, rows, step, min(step, p.head - first), is_aligned(p, P::query, query, vector),
                      [&](uint32_t row) {
                        const uint32_t i = first_row + row;
                        return i < all_rows ? pointer<const Item>(query) + query_offset(p, i) + first : nullptr;
                      });
      copy_rows<Item>(key_stage, pitch, key_block, step, min(step, p.head - first), is_aligned(p, P::key, key, vector),
                      [&](uint32_t row) {
                        const uint32_t j = first_key + row;
                        return j < keys ? pointer<const Item>(key) + j * p.key_row + first : nullptr;
                      });
      __syncthreads();
      if (!has_rows) continue;
#pragma unroll 2
      for (uint32_t d = 0; d < step; d += 4) {
        float4 q[own_rows];
#pragma unroll
        for (int r = 0; r < own_rows; ++r) q[r] = *reinterpret_cast<const float4*>(stage + (ty + 16 * r) * pitch + d);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float4 k = *reinterpret_cast<const float4*>(key_stage + (tx + 16 * j) * pitch + d);
#pragma unroll
          for (int r = 0; r < own_rows; ++r)
            scores[r][j] = fmaf(q[r].w, k.w, fmaf(q[r].z, k.z, fmaf(q[r].y, k.y, fmaf(q[r].x, k.x, scores[r][j]))));
        }
      }
    }
    Merging factors[own_rows];
#pragma unroll
    for (int r = 0; r < own_rows; ++r) {
      const uint32_t number = first_row + ty + 16 * r, member = is_part ? number / p.queries : 0;
      const Row row = Row::at<Item>(p, begins[P::mask], member, number - member * p.queries, keys);
      float greatest = -infinity;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        scores[r][j] = row.template score<Item>(p, scores[r][j], first_key + tx + 16 * j);
        greatest = fmaxf(greatest, scores[r][j]);
      }
#pragma unroll
      for (int lanes = 8; lanes > 0; lanes /= 2)
        greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffff, greatest, lanes));
      const float reference = reference_of(greatest);
      float total = 0.0f;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float weight = power_of_two(scores[r][j] - subtrahend(reference));
        weights[ty + 16 * r][tx + 16 * j] = weight;
        total += weight;
      }
#pragma unroll
      for (int lanes = 8; lanes > 0; lanes /= 2) total += __shfl_xor_sync(0xffffffff, total, lanes);
      if (is_part) {
        if (has_rows && tx == 0) pointer<AttentionPart>(p.parts)[place_of_part] = {reference, total};
      } else {
        factors[r] = merging(references[r], reference);
        totals[r] = merge(totals[r], total, factors[r]);
      }
    }
#pragma unroll
    for (int c = 0; c < column_steps; ++c) {
      const uint32_t first = c * column_step;
      if (first >= p.value_head) break;
      __syncthreads();
      const Address value = begins[P::value];
      copy_rows<Item>(stage, column_step, key_block, column_step, min(column_step, p.value_head - first),
                      is_aligned(p, P::value, value, vector), [&](uint32_t row) {
                        const uint32_t j = first_key + row;
                        return j < keys ? pointer<const Item>(value) + j * p.value_row + first : nullptr;
                      });
      __syncthreads();
      if (!has_rows) continue;
      float part[own_rows][4] = {};
#pragma unroll 1
      for (uint32_t k = 0; k < key_block; k += 4) {
        float4 w[own_rows], v[4];
#pragma unroll
        for (int r = 0; r < own_rows; ++r) w[r] = *reinterpret_cast<const float4*>(&weights[ty + 16 * r][k]);
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] = *reinterpret_cast<const float4*>(stage + (k + i) * column_step + tx * 4);
#pragma unroll
        for (int r = 0; r < own_rows; ++r) {
          part[r][0] =
              fmaf(w[r].w, v[3].x, fmaf(w[r].z, v[2].x, fmaf(w[r].y, v[1].x, fmaf(w[r].x, v[0].x, part[r][0]))));
          part[r][1] =
              fmaf(w[r].w, v[3].y, fmaf(w[r].z, v[2].y, fmaf(w[r].y, v[1].y, fmaf(w[r].x, v[0].y, part[r][1]))));
          part[r][2] =
              fmaf(w[r].w, v[3].z, fmaf(w[r].z, v[2].z, fmaf(w[r].y, v[1].z, fmaf(w[r].x, v[0].z, part[r][2]))));
          part[r][3] =
              fmaf(w[r].w, v[3].w, fmaf(w[r].z, v[2].w, fmaf(w[r].y, v[1].w, fmaf(w[r].x, v[0].w, part[r][3]))));
        }
      }
#pragma unroll
      for (int r = 0; r < own_rows; ++r)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32_t column = first + tx * 4 + i;
          if constexpr (!is_part)
            sums[r][c][i] = merge(sums[r][c][i], part[r][i], factors[r]);
          else if (column < p.value_head)
            pointer<float>(p.weighted)[place_of_part * p.value_head + column] = part[r][i];
        }
    }
  }

  if constexpr (!is_part) {
#pragma unroll
    for (int r = 0; r < own_rows; ++r) {
      const uint32_t row = first_row + ty + 16 * r;
      if (row >= all_rows) continue;
      Item* const to = pointer<Item>(p.to) + (batch * all_rows + row) * p.value_head;
#pragma unroll
      for (int c = 0; c < column_steps; ++c)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32_t column = c * column_step + tx * 4 + i;
          if (column < p.value_head) to[column] = from_float<Item>(quotient<Item>(sums[r][c][i], totals[r]));
        }
    }
  }
}

}  // namespace

// From compute capability 8.0 on, items of 16 bits have the matrix instructions (variant_of in attention.cpp).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
template <class Item>
constexpr bool is_used = sizeof(Item) == sizeof(float);
#else
template <class Item>
constexpr bool is_used = true;
#endif

// attention_simt.<dtype>_<longest head>, and attention_simt.parts_<dtype>_<longest head> for few queries, blocks of
// three of which a multiprocessor must hold, so that enough memory is requested.
#define SIMT(name, Item, columns)                                                \
  FERRULE_KERNEL(attention_simt_##name, AttentionParameters, threads) {          \
    if constexpr (is_used<Item>) attend<Item, columns, 4, false>(p);             \
  }                                                                              \
  FERRULE_KERNEL(attention_simt_parts_##name, AttentionParameters, threads, 3) { \
    if constexpr (is_used<Item>) attend<Item, columns, 1, true>(p);              \
  }
SIMT(f32_128, float, 128)
SIMT(f32_256, float, 256)
SIMT(f16_128, Half, 128)
SIMT(f16_256, Half, 256)
SIMT(bf16_128, BFloat16, 128)
SIMT(bf16_256, BFloat16, 256)

}  // namespace ferrule::cuda::attention
