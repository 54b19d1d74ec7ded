// Attention of few queries and many keys, float16 and bfloat16: a thread block computes the part of one block of keys
// for up to 16 rows, which are those of all heads that share the keys. Its four warps share the keys, then the columns
// of the values; attention_combine.cu merges the parts. The limit is the rate of memory: all of a block's keys and
// values are requested at once. Compute capability 8.0. The bits are those of attention_prefill.cu.
#include "kernels/attention/attention_tiles.h"

namespace ferrule::cuda::attention {
namespace {

constexpr uint32_t rows = attention_row_tile, warps = attention_decode_threads / 32;

template <class Item, int columns>
struct Decode {
  static constexpr uint32_t key_block = key_block_of<columns>;
  using Weights = Tile<Item, key_block>;

  // Multiplies the weights, which are in parts in shared memory, and stores the sums of the valid rows.
  template <int parts>
  __device__ static void store_values(const AttentionParameters& p, Weights weights, Tile<Item, columns> values,
                                      float* to, uint32_t valid_rows) {
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
    for (uint32_t first = warp * 16; first < p.value_head; first += warps * 16) {
      Scores sums[2] = {};
#pragma unroll
      for (int k = 0; k < steps_with_keys<parts>(key_block / 16); ++k) {
        uint32_t a[parts][4];
#pragma unroll
        for (int part = 0; part < parts; ++part)
          ldmatrix_x4(a[part], weights.chunk(part * rows + row + matrix % 2 * 8, k * 2 + matrix / 2));
        add_values<Item, columns, 2, parts>(values, k * 16, first, a, sums);
      }
#pragma unroll
      for (uint32_t i = 0; i < 8; ++i) {
        const uint32_t of_row = lane / 4 + i % 4 / 2 * 8, column = first + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (of_row < valid_rows && column < p.value_head)
          to[static_cast<uint64_t>(of_row) * p.value_head + column] = sums[i / 4][i % 4];
      }
    }
  }

  __device__ static void run(const AttentionParameters& p) {
    constexpr int key_tiles = key_block / 8 / warps;  // of a warp
    uint32_t keys;
    if (!count_keys(p, p.fault, p.op, keys)) return;
    const uint32_t block = blockIdx.x % p.blocks, first_key = block * key_block;
    if (first_key >= keys) return;
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint64_t number = blockIdx.x / p.blocks, batch = number / p.tiles;
    const uint32_t first_row = static_cast<uint32_t>(number % p.tiles) * rows, all_rows = p.group * p.queries;
    const uint32_t valid_rows = all_rows - first_row < rows ? all_rows - first_row : rows;

    FERRULE_SHARED(float, greatest, [warps][rows]);
    FERRULE_SHARED(float, sums, [warps][rows][4]);
    FERRULE_DYNAMIC_SHARED(Item, shared);
    const Tile<Item, columns> value_tile{shared}, query_tile{shared + key_block * columns},
        key_tile{shared + (key_block + rows) * columns};
    // The weights take the place of queries and keys.
    const Weights weights{query_tile.items};
    static_assert(3 * rows * key_block <= (rows + key_block) * columns);
    using P = AttentionParameters;
    FERRULE_SHARED(Address, begins, [P::operands]);
    find_batch<Item>(p, batch, begins);
    const Item* const query = pointer<const Item>(begins[P::query]);
    const Item* const key = pointer<const Item>(begins[P::key]);
    const Item* const value = pointer<const Item>(begins[P::value]);
    copy_rows(query_tile, rows, p.head, filled_head(p.head), is_aligned(p, P::query, begins[P::query], 16), query,
              [&](uint32_t row) { return row < valid_rows ? query + query_offset(p, first_row + row) : nullptr; });
    copy_rows(key_tile, key_block, p.head, filled_head(p.head), is_aligned(p, P::key, begins[P::key], 16), key,
              [&](uint32_t row) { return first_key + row < keys ? key + (first_key + row) * p.key_row : nullptr; });
    cp_async_commit();
    copy_rows(value_tile, key_block, p.value_head, filled_values(p.value_head),
              is_aligned(p, P::value, begins[P::value], 16), value,
              [&](uint32_t row) { return first_key + row < keys ? value + (first_key + row) * p.value_row : nullptr; });
    cp_async_commit();

    cp_async_wait<1>();
    __syncthreads();
    Scores scores[key_tiles];
    const uint32_t warp_key = warp * key_tiles * 8;
    products<Item, columns, key_tiles>(query_tile, 0, key_tile, warp_key, p.head, scores);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t row = first_row + lane / 4 + half * 8, member = row / p.queries;
      const Row own = Row::at<Item>(p, begins[P::mask], member, row - member * p.queries, keys);
      float found = -infinity;
#pragma unroll
      for (int n = 0; n < key_tiles; ++n)
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          const uint32_t j = first_key + warp_key + n * 8 + lane % 4 * 2 + e % 2;
          scores[n][e] = own.template score<Item>(p, scores[n][e], j);
          found = fmaxf(found, scores[n][e]);
        }
      found = fmaxf(found, __shfl_xor_sync(0xffffffff, found, 1));
      found = fmaxf(found, __shfl_xor_sync(0xffffffff, found, 2));
      if (lane % 4 == 0) greatest[warp][lane / 4 + half * 8] = found;
    }
    __syncthreads();  // the keys are no longer read, either
    const bool in_three = needs_three_parts<Item>(keys);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t row = lane / 4 + half * 8;
      const float base = subtrahend(reference_of(greatest_of(greatest, row)));
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < key_tiles; ++n) {
        float pair[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          pair[e] = power_of_two(scores[n][2 * half + e] - base) * weight_factor<Item>;
          sum += pair[e];
        }
        uint32_t split_pair[3];
        split<Item, 3>(pair[0], pair[1], split_pair);
#pragma unroll
        for (int part = 0; part < 3; ++part) {
          if (part == 2 && !in_three) break;
          Item* const chunk = weights.chunk(part * rows + row, warp * key_tiles + n);
          reinterpret_cast<uint32_t*>(chunk)[lane % 4] = split_pair[part];
        }
      }
      sums[warp][row][lane % 4] = sum;
    }
    cp_async_wait<0>();
    __syncthreads();
    const uint64_t first = (batch * p.blocks + block) * all_rows + first_row;
    float* const to = pointer<float>(p.weighted) + first * p.value_head;
    if (in_three)
      store_values<3>(p, weights, value_tile, to, valid_rows);
    else
      store_values<2>(p, weights, value_tile, to, valid_rows);
    if (threadIdx.x >= valid_rows) return;
    float of_lane[4] = {};
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k)
#pragma unroll
      for (uint32_t w = 0; w < warps; ++w) of_lane[k] += sums[w][threadIdx.x][k];
    pointer<AttentionPart>(p.parts)[first + threadIdx.x] = {reference_of(greatest_of(greatest, threadIdx.x)),
                                                            (of_lane[0] + of_lane[1]) + (of_lane[2] + of_lane[3])};
  }

  __device__ static float greatest_of(const float (&greatest)[warps][rows], uint32_t row) {
    return fmaxf(fmaxf(greatest[0][row], greatest[1][row]), fmaxf(greatest[2][row], greatest[3][row]));
  }
};

}  // namespace

// attention_decode.<dtype>_<longest head>
#define DECODE(name, Item, columns)                                                        \
  FERRULE_KERNEL(attention_decode_##name, AttentionParameters, attention_decode_threads) { \
    if constexpr (has_mma_m16n8k16) Decode<Item, columns>::run(p);                         \
  }
DECODE(f16_64, Half, 64)
DECODE(f16_128, Half, 128)
DECODE(f16_256, Half, 256)
DECODE(bf16_64, BFloat16, 64)
DECODE(bf16_128, BFloat16, 128)
DECODE(bf16_256, BFloat16, 256)

}  // namespace ferrule::cuda::attention
