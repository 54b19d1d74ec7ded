// Attention of many queries by wgmma and TMA (FlashAttention-3, Shah et al. 2024), float16 and bfloat16. One warp group
// copies tiles to shared memory: that of the queries, and rings of those of keys and of values. Two others have 64 rows
// each, in registers; while one computes weights, the other one's matrix instructions run.
//
// The bits are those of attention_prefill.cu: the same blocks of keys, and products that add in the same order
// (attention_hopper_plan.h). The limit is the rate of matrix instructions, three for two of other libraries because
// weights are not rounded to 16 bits.
#include "kernels/attention/attention_hopper_copies.h"
#include "kernels/attention/attention_tiles.h"

namespace ferrule::cuda::attention {
namespace {

#if FERRULE_HAS_WGMMA

template <int COLUMNS, class Item>
struct HopperAttention : AttentionBlock<AttentionHopperShape<COLUMNS>> {
  using Shape = AttentionHopperShape<COLUMNS>;
  using Block = AttentionBlock<Shape>;
  using Block::barriers, Block::blocks, Block::end_at, Block::first_row, Block::keys, Block::p, Block::tiles;

  // One arrival for each warp: its part of the instructions that read the tile has ended.
  __device__ __forceinline__ static void release(uint64_t* empty) {
    if (threadIdx.x % 32 == 0) mbarrier_arrive(empty);
  }

  // Starts the products of the 64 rows of `queries` and the keys of a tile.
  __device__ __forceinline__ static void start_products(const unsigned char* queries, const unsigned char* key_tile,
                                                        float (&scores)[key_block / 2]) {
    const auto descriptor = [](const unsigned char* tile, uint32_t k) {
      return matrix_descriptor(tile + k / 64 * Shape::part_bytes + k % 64 * 2, 16, 8 * Shape::row_bytes);
    };
    wgmma_begin();
    wgmma_set<Item, true, true>(scores, descriptor(queries, 0), descriptor(key_tile, 0));
#pragma unroll
    for (uint32_t k = 16; k < COLUMNS; k += 16)
      wgmma<Item, true, true>(scores, descriptor(queries, k), descriptor(key_tile, k));
    wgmma_commit();
  }

  // Splits the weights of a block, as merge_values() does.
  template <int parts, int COUNT>
  __device__ __forceinline__ static void split_block(const Scores (&weights)[key_block / 8],
                                                     uint32_t (&fragments)[COUNT][4]) {
#pragma unroll
    for (int k = 0; k < COUNT / parts; ++k) split_weights<Item, parts>(weights + 2 * k, fragments + k * parts);
  }

  // Values of a tile with these weights. Adds in the order of merge_values().
  template <int parts, int COUNT>
  __device__ __forceinline__ static void weigh_values(uint32_t (&fragments)[COUNT][4], const unsigned char* value_tile,
                                                      float (&values)[COLUMNS / 2]) {
    const auto descriptor = [&](int k) {
      return matrix_descriptor(value_tile + k * 16 * Shape::row_bytes, Shape::part_bytes, 8 * Shape::row_bytes);
    };
    wgmma_begin(fragments);
    wgmma_of_fragment<Item, false, false>(values, fragments[0], descriptor(0));
#pragma unroll
    for (int i = 1; i < COUNT; ++i) wgmma_of_fragment<Item, true, false>(values, fragments[i], descriptor(i / parts));
    wgmma_commit();
    wgmma_wait<0>(values);
  }

  // Products become scores, in units of log 2.
  __device__ __forceinline__ void scale(Scores (&scores)[key_block / 8], uint32_t warp_row, uint32_t first_key) const {
    // The first row of the warp keeps the fewest keys.
    if (first_key + key_block <= end_at(warp_row)) {
#pragma unroll
      for (int n = 0; n < static_cast<int>(key_block / 8); ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) scores[n][e] *= p.log2_scale;
      return;
    }
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t end = Row::at<Item>(p, 0, 0, warp_row + lane / 4 + half * 8, keys).end;
#pragma unroll
      for (int n = 0; n < static_cast<int>(key_block / 8); ++n)
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e)
          scores[n][e] = first_key + n * 8 + lane % 4 * 2 + e % 2 < end ? scores[n][e] * p.log2_scale : -infinity;
    }
  }

  // The two warp groups take turns: one multiplies while the other one computes weights.
  __device__ __forceinline__ void wait_for_turn(uint32_t group, uint32_t block) const {
    mbarrier_wait(barriers.turns + group, (block + 1 + group) % 2);
  }
  __device__ __forceinline__ void end_turn(uint32_t group) const { release(barriers.turns + (group ^ 1)); }

  // The results of a warp for its rows, from all blocks up to the current one.
  struct Sums {
    Scores sums[COLUMNS / 8] = {};
    float references[2] = {-infinity, -infinity}, totals[2] = {0.0f, 0.0f};

    __device__ __forceinline__ void add(const float (&block_references)[2], const float (&block_totals)[2],
                                        const float (&values)[COLUMNS / 2]) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Merging factors = merging(references[half], block_references[half]);
        totals[half] = merge(totals[half], block_totals[half], factors);
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; ++n)
#pragma unroll
          for (int e = 2 * half; e < 2 * half + 2; ++e) sums[n][e] = merge(sums[n][e], values[n * 4 + e], factors);
      }
    }
  };

  __device__ __forceinline__ void consume() const {
    // Read from lane 0: the compiler then knows that a warp has one value, and computes its descriptors once.
    const uint32_t group = __shfl_sync(0xffffffffu, threadIdx.x / group_threads, 0) - 1;
    const uint32_t group_row = group * 64, warp_row = first_row + group_row + threadIdx.x % group_threads / 32 * 16;
    // Blocks of which a row of the warp group keeps something.
    const uint32_t own_blocks = (end_at(first_row + group_row + 63) + key_block - 1) / key_block;
    const unsigned char* const queries = tiles.queries + group_row * Shape::row_bytes;
    Sums result;
    RingPlace<Shape::stages> next;
    if (blocks != 0) mbarrier_wait(&barriers.queries, 0);
    if (own_blocks != 0) {
      float products[key_block / 2], block_references[2], block_totals[2], values[COLUMNS / 2];
      Scores(&scores)[key_block / 8] = reinterpret_cast<Scores(&)[key_block / 8]>(products);
      mbarrier_wait(barriers.keys.full + next.slot, next.parity);
      start_products(queries, tiles.keys(next.slot), products);
      wgmma_wait<0>(products);
      release(barriers.keys.empty + next.slot);
#pragma unroll 1
      for (uint32_t block = 0; block + 1 < own_blocks; ++block) {
        scale(scores, warp_row, block * key_block);
        weigh<Item, key_block / 8>(scores, block_references, block_totals);
        uint32_t fragments[key_block / 8][4];
        split_block<2>(scores, fragments);
        mbarrier_wait(barriers.values.full + next.slot, next.parity);
        wait_for_turn(group, block);
        weigh_values<2>(fragments, tiles.values(next.slot), values);
        release(barriers.values.empty + next.slot);
        next.advance();
        mbarrier_wait(barriers.keys.full + next.slot, next.parity);
        start_products(queries, tiles.keys(next.slot), products);
        end_turn(group);
        result.add(block_references, block_totals, values);
        wgmma_wait<0>(products);
        release(barriers.keys.empty + next.slot);
      }
      const uint32_t first_key = (own_blocks - 1) * key_block;
      scale(scores, warp_row, first_key);
      weigh<Item, key_block / 8>(scores, block_references, block_totals);
      if (needs_three_parts<Item>(keys)) {
        uint32_t fragments[3 * steps_with_keys<3>(key_block / 16)][4];
        split_block<3>(scores, fragments);
        mbarrier_wait(barriers.values.full + next.slot, next.parity);
        weigh_values<3>(fragments, tiles.values(next.slot), values);
      } else {
        uint32_t fragments[key_block / 8][4];
        split_block<2>(scores, fragments);
        mbarrier_wait(barriers.values.full + next.slot, next.parity);
        wait_for_turn(group, own_blocks - 1);
        weigh_values<2>(fragments, tiles.values(next.slot), values);
      }
      release(barriers.values.empty + next.slot);
      next.advance();
      end_turn(group);
      // Rows of a warp that keep nothing of the block must not become NaN by its values.
      if (first_key < end_at(warp_row + 15)) result.add(block_references, block_totals, values);
    }
    // Only the other warp group has rows that keep keys of these.
#pragma unroll 1
    for (uint32_t block = own_blocks; block < blocks; ++block, next.advance()) {
      mbarrier_wait(barriers.keys.full + next.slot, next.parity);
      release(barriers.keys.empty + next.slot);
      mbarrier_wait(barriers.values.full + next.slot, next.parity);
      release(barriers.values.empty + next.slot);
      wait_for_turn(group, block);
      end_turn(group);
    }
    store_rows<Item, COLUMNS>(p, this->batch, warp_row, result.sums, result.totals);
  }
};

#endif  // FERRULE_HAS_WGMMA

template <class Item, int COLUMNS>
__device__ __forceinline__ void attend(const AttentionHopperParameters& parameters) {
#if FERRULE_HAS_WGMMA
  using Shape = AttentionHopperShape<COLUMNS>;
  const AttentionParameters& p = parameters.attention;
  FERRULE_DYNAMIC_SHARED(unsigned char, memory);
  FERRULE_SHARED(Barriers<Shape::stages>, barriers, [1]);
  uint32_t keys;
  if (!count_keys(p, p.fault, p.op, keys)) return;
  keys = __shfl_sync(0xffffffffu, keys, 0);
  // The last rows first: they have the most keys of a causal mask.
  const uint32_t first_row = (p.tiles - 1 - blockIdx.x % p.tiles) * Shape::rows;
  HopperAttention<COLUMNS, Item> work{
      {.parameters = parameters,
       .p = p,
       .tiles = {memory +
                 (Shape::alignment - reinterpret_cast<uint64_t>(memory) % Shape::alignment) % Shape::alignment},
       .barriers = barriers[0],
       .batch = blockIdx.x / p.tiles,
       .keys = keys,
       .first_row = first_row,
       .blocks = 0,
       .fills = keys < p.keys && keys % key_block != 0}};
  work.blocks = (work.end_at(first_row + Shape::rows - 1) + key_block - 1) / key_block;
  for (const TensorMap& map : parameters.maps) work.fills = work.fills || map.address % 16 != 0;
  if (threadIdx.x == 0) {
    const uint32_t fillers = work.fills ? 1 + group_threads : 1;
    for (const TensorMap& map : parameters.maps)
      if (map.address % 16 == 0) prefetch_map(&map);
    mbarrier_init(&barriers->queries, fillers);
    mbarrier_init(&barriers->tail, 1);
    for (uint64_t& turn : barriers->turns) mbarrier_init(&turn, group_threads / 32);
    for (auto* ring : {&barriers->keys, &barriers->values})
      for (uint32_t slot = 0; slot < Shape::stages; ++slot) {
        mbarrier_init(ring->full + slot, fillers);
        mbarrier_init(ring->empty + slot, 2 * group_threads / 32);
      }
    fence_proxy_async();
  }
  __syncthreads();
  if (threadIdx.x < group_threads) {
    lower_registers<40>();
    work.produce();
  } else {
    raise_registers<232>();
    work.consume();
  }
#else
  __trap();
#endif
}

}  // namespace

// attention_hopper.<dtype>_<longest head>
static_assert(AttentionHopperShape<64>::threads == 384);
FERRULE_KERNEL(attention_hopper_f16_64, AttentionHopperParameters, 384) { attend<Half, 64>(p); }
FERRULE_KERNEL(attention_hopper_f16_128, AttentionHopperParameters, 384) { attend<Half, 128>(p); }
FERRULE_KERNEL(attention_hopper_bf16_64, AttentionHopperParameters, 384) { attend<BFloat16, 64>(p); }
FERRULE_KERNEL(attention_hopper_bf16_128, AttentionHopperParameters, 384) { attend<BFloat16, 128>(p); }

}  // namespace ferrule::cuda::attention
