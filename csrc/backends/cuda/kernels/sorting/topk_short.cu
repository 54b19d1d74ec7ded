// The k greatest or least elements of rows of up to 256 elements, sorted, for a k of up to 32, with one warp per row:
// it finds the best element k times. Limit: the bytes of x for a k of a few elements, otherwise instructions.
#include "kernels/sorting/topk_rows.h"

namespace ferrule::cuda {
namespace {

constexpr uint32_t all_lanes = 0xffffffffu;

template <class Item>
__device__ __forceinline__ void topk_short(const TopkShortParameters& p) {
  using Key = typename SortKey<Item>::Key;
  constexpr uint32_t items = topk_short_length / 32;
  const uint64_t row_number = thread_number() / 32;
  if (row_number >= p.row_count) return;
  const TopkRow<Item> row(p.rows, row_number);
  const auto length = static_cast<uint32_t>(p.rows.length), k = static_cast<uint32_t>(p.rows.k);
  const uint32_t lane = threadIdx.x % 32;

  Key keys[items];
  uint32_t left = 0;  // a bit for each key that is not taken
#pragma unroll
  for (uint32_t i = 0; i < items; ++i) {
    const uint32_t index = i * 32 + lane;
    keys[i] = index < length ? row.key(index) : 0;
    left |= (index < length ? 1u : 0u) << i;
  }
  uint32_t taken = 0;  // by the lane whose number is that of the element in the result
#pragma unroll 1
  for (uint32_t number = 0; number < k; ++number) {
    Key best = 0;
    uint32_t index = ~0u;  // worse than any element
#pragma unroll
    for (uint32_t i = 0; i < items; ++i)
      if ((left >> i & 1u) != 0 && is_better(keys[i], i * 32 + lane, best, index)) {
        best = keys[i];
        index = i * 32 + lane;
      }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      const Key other = __shfl_xor_sync(all_lanes, best, step);
      const uint32_t other_index = __shfl_xor_sync(all_lanes, index, step);
      if (is_better(other, other_index, best, index)) {
        best = other;
        index = other_index;
      }
    }
    if (index % 32 == lane) left &= ~(1u << index / 32);
    if (number == lane) taken = index;
  }
  if (lane < k) row.write_one(lane, taken);
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(topk_short_i8, TopkShortParameters, topk_short_threads) { topk_short<int8_t>(p); }
FERRULE_KERNEL(topk_short_u8, TopkShortParameters, topk_short_threads) { topk_short<uint8_t>(p); }
FERRULE_KERNEL(topk_short_i16, TopkShortParameters, topk_short_threads) { topk_short<int16_t>(p); }
FERRULE_KERNEL(topk_short_u16, TopkShortParameters, topk_short_threads) { topk_short<uint16_t>(p); }
FERRULE_KERNEL(topk_short_i32, TopkShortParameters, topk_short_threads) { topk_short<int32_t>(p); }
FERRULE_KERNEL(topk_short_u32, TopkShortParameters, topk_short_threads) { topk_short<uint32_t>(p); }
FERRULE_KERNEL(topk_short_i64, TopkShortParameters, topk_short_threads) { topk_short<int64_t>(p); }
FERRULE_KERNEL(topk_short_u64, TopkShortParameters, topk_short_threads) { topk_short<uint64_t>(p); }
FERRULE_KERNEL(topk_short_f16, TopkShortParameters, topk_short_threads) { topk_short<Half>(p); }
FERRULE_KERNEL(topk_short_bf16, TopkShortParameters, topk_short_threads) { topk_short<BFloat16>(p); }
FERRULE_KERNEL(topk_short_f32, TopkShortParameters, topk_short_threads) { topk_short<float>(p); }
FERRULE_KERNEL(topk_short_f64, TopkShortParameters, topk_short_threads) { topk_short<double>(p); }
