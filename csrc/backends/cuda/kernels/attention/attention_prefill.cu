// Attention of many queries, float16 and bfloat16 (FlashAttention-2, Dao 2023): a warp has 16 rows in registers, and
// all warps share blocks of keys and values, which are copied while others are computed: values during the products
// with keys, the next keys during the weighting of values. The limit is the rate of matrix instructions, three for two
// of other libraries because weights are not rounded to 16 bits. Compute capability 8.0.
#include "kernels/attention/attention_tiles.h"

namespace ferrule::cuda::attention {
namespace {

// Merges the weighted values of a block into `sums`.
template <class Item, int columns, int key_tiles, int parts>
__device__ __forceinline__ void merge_values(Tile<Item, columns> values, uint32_t value_head,
                                             const Scores (&weights)[key_tiles], const Merging (&factors)[2],
                                             Scores (&sums)[columns / 8]) {
  constexpr int steps = steps_with_keys<parts>(key_tiles / 2);
  uint32_t a[steps][parts][4];
#pragma unroll
  for (int k = 0; k < steps; ++k) split_weights<Item, parts>(weights + 2 * k, a[k]);
  constexpr int tiles = columns <= 128 ? 4 : 2;  // at a time, as many as registers permit
#pragma unroll
  for (int first = 0; first < columns / 8; first += tiles) {
    if (first * 8u >= value_head) break;
    Scores block[tiles] = {};
#pragma unroll
    for (int k = 0; k < steps; ++k) add_values<Item, columns, tiles, parts>(values, k * 16, first * 8, a[k], block);
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[first + n][e] = merge(sums[first + n][e], block[n][e], factors[e / 2]);
  }
}

template <class Item, int columns>
__device__ void prefill(const AttentionParameters& p) {
  constexpr uint32_t key_block = key_block_of<columns>;
  constexpr int key_tiles = key_block / 8;
  uint32_t keys;
  if (!count_keys(p, p.fault, p.op, keys)) return;
  const uint32_t lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * 16, rows = blockDim.x / 2;
  const uint64_t batch = blockIdx.x / p.tiles;
  // The last rows first: they have the most keys of a causal mask.
  const uint32_t first_row = (p.tiles - 1 - blockIdx.x % p.tiles) * rows;

  FERRULE_DYNAMIC_SHARED(Item, shared);
  const Tile<Item, columns> query_tile{shared}, key_tile{shared + rows * columns},
      value_tile{shared + (rows + key_block) * columns};
  using P = AttentionParameters;
  FERRULE_SHARED(Address, begins, [P::operands]);
  find_batch<Item>(p, batch, begins);

  const auto copy_keys = [&](uint32_t block) {
    const Item* const key = pointer<const Item>(begins[P::key]);
    copy_rows(key_tile, key_block, p.head, filled_head(p.head), is_aligned(p, P::key, begins[P::key], 16), key,
              [&](uint32_t row) {
                const uint32_t j = block * key_block + row;
                return j < keys ? key + j * p.key_row : nullptr;
              });
    cp_async_commit();
  };
  const auto copy_values = [&](uint32_t block) {
    const Item* const value = pointer<const Item>(begins[P::value]);
    copy_rows(value_tile, key_block, p.value_head, filled_values(p.value_head),
              is_aligned(p, P::value, begins[P::value], 16), value, [&](uint32_t row) {
                const uint32_t j = block * key_block + row;
                return j < keys ? value + j * p.value_row : nullptr;
              });
    cp_async_commit();
  };
  const Item* const query = pointer<const Item>(begins[P::query]);
  copy_rows(query_tile, rows, p.head, filled_head(p.head), is_aligned(p, P::query, begins[P::query], 16), query,
            [&](uint32_t row) {
              const uint32_t i = first_row + row;
              return i < p.queries ? query + i * p.query_row : nullptr;
            });

  // Rows of the thread block, and of the warp, keep keys before these.
  const auto end_at = [&](uint32_t row) { return keys_before(p, keys, row < p.queries ? row : p.queries - 1); };
  const uint32_t end = end_at(first_row + rows - 1), warp_end = end_at(first_row + warp_row + 15);

  Scores sums[columns / 8] = {};
  float references[2] = {-infinity, -infinity}, totals[2] = {0.0f, 0.0f};
  const uint32_t blocks = (end + key_block - 1) / key_block;
  if (blocks != 0) copy_keys(0);
  for (uint32_t block = 0; block < blocks; ++block) {
    const uint32_t first_key = block * key_block;
    const bool is_seen = first_key < warp_end;
    cp_async_wait<0>();
    __syncthreads();  // the keys are there, and the values of the block before are no longer read
    copy_values(block);
    Scores scores[key_tiles];
    if (is_seen) products<Item, columns, key_tiles>(query_tile, warp_row, key_tile, 0, p.head, scores);
    cp_async_wait<0>();
    __syncthreads();  // the values are there, and the keys are no longer read
    if (block + 1 < blocks) copy_keys(block + 1);
    if (!is_seen) continue;
    // The first row of the warp keeps the fewest keys.
    if (p.mask_kind == AttentionParameters::no_mask && first_key + key_block <= end_at(first_row + warp_row)) {
#pragma unroll
      for (int n = 0; n < key_tiles; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) scores[n][e] *= p.log2_scale;
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Row row = Row::at<Item>(p, begins[P::mask], 0, first_row + warp_row + lane / 4 + half * 8, keys);
#pragma unroll
        for (int n = 0; n < key_tiles; ++n)
#pragma unroll
          for (int e = 2 * half; e < 2 * half + 2; ++e)
            scores[n][e] = row.template score<Item>(p, scores[n][e], first_key + n * 8 + lane % 4 * 2 + e % 2);
      }
    }
    float block_references[2], block_totals[2];
    weigh<Item, key_tiles>(scores, block_references, block_totals);
    Merging factors[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      factors[half] = merging(references[half], block_references[half]);
      totals[half] = merge(totals[half], block_totals[half], factors[half]);
    }
    if (needs_three_parts<Item>(keys)) {
      // There is only this block. This tells the compiler that it need not keep the sums.
#pragma unroll
      for (int n = 0; n < columns / 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[n][e] = 0.0f;
      merge_values<Item, columns, key_tiles, 3>(value_tile, p.value_head, scores, factors, sums);
    } else {
      merge_values<Item, columns, key_tiles, 2>(value_tile, p.value_head, scores, factors, sums);
    }
  }

  store_rows<Item, columns>(p, batch, first_row + warp_row, sums, totals);
}

}  // namespace

// attention_prefill.<dtype>_<longest head>
#define PREFILL(name, Item, columns)                                   \
  FERRULE_KERNEL(attention_prefill_##name, AttentionParameters, 256) { \
    if constexpr (has_mma_m16n8k16) prefill<Item, columns>(p);         \
  }
PREFILL(f16_64, Half, 64)
PREFILL(f16_128, Half, 128)
PREFILL(f16_256, Half, 256)
PREFILL(bf16_64, BFloat16, 64)
PREFILL(bf16_128, BFloat16, 128)
PREFILL(bf16_256, BFloat16, 256)

}  // namespace ferrule::cuda::attention
