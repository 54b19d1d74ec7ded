// The k greatest or least elements of rows, sorted, for a k of up to 1024. A block finds the k best elements of a
// chunk, whose keys are in registers; the best of all chunks of a row are the candidates of the next level. Limit: the
// bytes of x for long rows, the latency of the levels for short ones.
#include "kernels/sorting/topk_rows.h"

namespace ferrule::cuda {
namespace {

template <class Item>
__device__ __forceinline__ void topk(const TopkParameters& p) {
  using Key = typename SortKey<Item>::Key;
  FERRULE_SHARED(DigitSearch, search, [1]);
  FERRULE_SHARED(Key, best_keys, [topk_most]);
  FERRULE_SHARED(uint32_t, best_indices, [topk_most]);
  FERRULE_SHARED(uint32_t, taken, [1]);

  const uint64_t row_number = p.chunks == 1 ? blockIdx.x : blockIdx.x / p.chunks;
  const uint64_t chunk = blockIdx.x - row_number * p.chunks, begin = chunk * topk_chunk;
  const TopkRow<Item> row(p.rows, row_number);
  const uint64_t length = p.is_first != 0 ? static_cast<uint64_t>(p.rows.length) : p.from.count, left = length - begin;
  const auto count = static_cast<uint32_t>(left < topk_chunk ? left : topk_chunk);
  const auto all_taken = static_cast<uint32_t>(p.rows.k), k = all_taken < count ? all_taken : count;
  const Key* const given_keys = pointer<const Key>(p.from.keys) + row_number * p.from.count + begin;
  const uint32_t* const given_indices = pointer<const uint32_t>(p.from.indices) + row_number * p.from.count + begin;

  Key keys[topk_items];
#pragma unroll
  for (uint32_t i = 0; i < topk_items; ++i) {
    const uint32_t at = i * topk_threads + threadIdx.x;
    keys[i] = at >= count ? 0 : p.is_first != 0 ? row.key(begin + at) : given_keys[at];
  }
  if (threadIdx.x == 0) taken[0] = 0;
  const auto visit = [&](const auto& work) {
#pragma unroll
    for (uint32_t i = 0; i < topk_items; ++i) {
      const uint32_t at = i * topk_threads + threadIdx.x;
      if (at < count)
        work(keys[i], [&] { return p.is_first != 0 ? static_cast<uint32_t>(begin) + at : given_indices[at]; });
    }
  };
  const Threshold<Key> threshold =
      find_threshold<Key, SortKey<Item>::bits>(search[0], k, count, static_cast<uint32_t>(p.rows.length), visit);
  __syncthreads();

  Key* const to_keys =
      p.is_last != 0 ? best_keys : pointer<Key>(p.to.keys) + row_number * p.to.count + chunk * all_taken;
  uint32_t* const to_indices =
      p.is_last != 0 ? best_indices : pointer<uint32_t>(p.to.indices) + row_number * p.to.count + chunk * all_taken;
  visit([&](Key key, const auto& index) {
    if (!threshold.takes(key, index)) return;
    const uint32_t place = atomicAdd(&taken[0], 1u);
    to_keys[place] = key;
    to_indices[place] = index();
  });
  if (p.is_last == 0) return;
  uint32_t padded = 1;
  while (padded < k) padded *= 2;
  for (uint32_t i = k + threadIdx.x; i < padded; i += topk_threads) {
    best_keys[i] = 0;
    best_indices[i] = ~0u;  // worse than any element
  }
  __syncthreads();
  sort_best_first(best_keys, best_indices, padded);
  row.write(best_indices);
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(topk_i8, TopkParameters, topk_threads) { topk<int8_t>(p); }
FERRULE_KERNEL(topk_u8, TopkParameters, topk_threads) { topk<uint8_t>(p); }
FERRULE_KERNEL(topk_i16, TopkParameters, topk_threads) { topk<int16_t>(p); }
FERRULE_KERNEL(topk_u16, TopkParameters, topk_threads) { topk<uint16_t>(p); }
FERRULE_KERNEL(topk_i32, TopkParameters, topk_threads) { topk<int32_t>(p); }
FERRULE_KERNEL(topk_u32, TopkParameters, topk_threads) { topk<uint32_t>(p); }
FERRULE_KERNEL(topk_i64, TopkParameters, topk_threads) { topk<int64_t>(p); }
FERRULE_KERNEL(topk_u64, TopkParameters, topk_threads) { topk<uint64_t>(p); }
FERRULE_KERNEL(topk_f16, TopkParameters, topk_threads) { topk<Half>(p); }
FERRULE_KERNEL(topk_bf16, TopkParameters, topk_threads) { topk<BFloat16>(p); }
FERRULE_KERNEL(topk_f32, TopkParameters, topk_threads) { topk<float>(p); }
FERRULE_KERNEL(topk_f64, TopkParameters, topk_threads) { topk<double>(p); }
