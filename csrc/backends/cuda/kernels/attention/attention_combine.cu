// Merges the parts of rows of attention, in the order of blocks of keys. A warp has 32 columns of a row, and requests
// the values of 32 blocks at once: the limit is the rate of memory, or its latency where there are few rows.
#include "kernels/attention/attention_rows.h"

namespace ferrule::cuda::attention {
namespace {

template <class Item>
__device__ void combine(const AttentionCombineParameters& p) {
  constexpr uint32_t all = 0xffffffff;
  uint32_t keys;
  if (!count_keys(p, 0, 0, keys)) return;
  const uint32_t blocks = (keys + p.key_block - 1) / p.key_block, lane = threadIdx.x % 32;
  const uint32_t column_groups = (p.value_head + 31) / 32;
  const uint64_t number = thread_number() / 32, row = number / column_groups;
  if (row >= p.rows) return;
  const uint32_t column = static_cast<uint32_t>(number % column_groups) * 32 + lane;
  const bool is_column = column < p.value_head;
  const uint64_t batch = row / p.rows_of_batch;
  const uint64_t first_row = batch * p.blocks * p.rows_of_batch + row % p.rows_of_batch;
  const AttentionPart* const parts = pointer<const AttentionPart>(p.parts) + first_row;
  const float* const weighted = pointer<const float>(p.weighted) + first_row * p.value_head + column;

  float sum = 0.0f, total = 0.0f, reference = -infinity;
  for (uint32_t first = 0; first < blocks; first += 32) {
    float values[32];
#pragma unroll
    for (uint32_t i = 0; i < 32; ++i) {
      const bool is_there = is_column && first + i < blocks;
      values[i] = is_there ? weighted[(first + i) * p.rows_of_batch * p.value_head] : 0.0f;
    }
    AttentionPart part = {-infinity, 0.0f};
    if (first + lane < blocks) part = parts[(first + lane) * p.rows_of_batch];
    // Each lane finds the reference before its block: the greatest of the lanes before it.
    float greatest = part.reference;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
      const float other = __shfl_up_sync(all, greatest, step);
      if (lane >= step) greatest = fmaxf(greatest, other);
    }
    float before = __shfl_up_sync(all, greatest, 1);
    before = lane == 0 ? reference : fmaxf(before, reference);
    const Merging own = merging(before, part.reference);
    reference = __shfl_sync(all, before, 31);
#pragma unroll
    for (uint32_t i = 0; i < 32; ++i) {
      if (first + i >= blocks) break;
      const Merging factors = {__shfl_sync(all, own.before, i), __shfl_sync(all, own.of_part, i)};
      sum = merge(sum, values[i], factors);
      total = merge(total, __shfl_sync(all, part.total, i), factors);
    }
  }
  if (!is_column) return;
  pointer<Item>(p.to)[row * p.value_head + column] = from_float<Item>(quotient<Item>(sum, total));
}

}  // namespace

FERRULE_KERNEL(attention_combine_f32, AttentionCombineParameters, 128) { combine<float>(p); }
FERRULE_KERNEL(attention_combine_f16, AttentionCombineParameters, 128) { combine<Half>(p); }
FERRULE_KERNEL(attention_combine_bf16, AttentionCombineParameters, 128) { combine<BFloat16>(p); }

}  // namespace ferrule::cuda::attention
