// The k greatest or least elements of rows, sorted, for any k, with one block per row: it reads the row once for each
// digit, and sorts the elements taken in memory. Limit: the latency of the sort.
#include "kernels/sorting/topk_rows.h"

namespace ferrule::cuda {
namespace {

template <class Item>
__device__ __forceinline__ void topk_large(const TopkLargeParameters& p) {
  using Key = typename SortKey<Item>::Key;
  FERRULE_SHARED(DigitSearch, search, [1]);
  FERRULE_SHARED(uint32_t, taken, [1]);
  const TopkRow<Item> row(p.rows, blockIdx.x);
  const auto length = static_cast<uint32_t>(p.rows.length), k = static_cast<uint32_t>(p.rows.k);
  if (threadIdx.x == 0) taken[0] = 0;
  const auto visit = [&](const auto& work) {
    for (uint32_t i = threadIdx.x; i < length; i += topk_large_threads) work(row.key(i), [i] { return i; });
  };
  const Threshold<Key> threshold = find_threshold<Key, SortKey<Item>::bits>(search[0], k, length, length, visit);
  __syncthreads();
  const auto padded = static_cast<uint32_t>(p.padded);
  Key* const keys = pointer<Key>(p.keys) + blockIdx.x * p.padded;
  uint32_t* const indices = pointer<uint32_t>(p.indices) + blockIdx.x * p.padded;
  visit([&](Key key, const auto& index) {
    if (!threshold.takes(key, index)) return;
    const uint32_t place = atomicAdd(&taken[0], 1u);
    if (place >= k) return;  // happens if the owner of the memory writes to it meanwhile
    keys[place] = key;
    indices[place] = index();
  });
  __syncthreads();
  for (uint32_t i = (taken[0] < k ? taken[0] : k) + threadIdx.x; i < padded; i += topk_large_threads) {
    keys[i] = 0;
    indices[i] = i < k ? length - 1 : ~0u;  // worse than any element; an index that exists where it may be taken
  }
  __syncthreads();
  sort_best_first(keys, indices, padded);
  row.write(indices);
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(topk_large_i8, TopkLargeParameters, topk_large_threads) { topk_large<int8_t>(p); }
FERRULE_KERNEL(topk_large_u8, TopkLargeParameters, topk_large_threads) { topk_large<uint8_t>(p); }
FERRULE_KERNEL(topk_large_i16, TopkLargeParameters, topk_large_threads) { topk_large<int16_t>(p); }
FERRULE_KERNEL(topk_large_u16, TopkLargeParameters, topk_large_threads) { topk_large<uint16_t>(p); }
FERRULE_KERNEL(topk_large_i32, TopkLargeParameters, topk_large_threads) { topk_large<int32_t>(p); }
FERRULE_KERNEL(topk_large_u32, TopkLargeParameters, topk_large_threads) { topk_large<uint32_t>(p); }
FERRULE_KERNEL(topk_large_i64, TopkLargeParameters, topk_large_threads) { topk_large<int64_t>(p); }
FERRULE_KERNEL(topk_large_u64, TopkLargeParameters, topk_large_threads) { topk_large<uint64_t>(p); }
FERRULE_KERNEL(topk_large_f16, TopkLargeParameters, topk_large_threads) { topk_large<Half>(p); }
FERRULE_KERNEL(topk_large_bf16, TopkLargeParameters, topk_large_threads) { topk_large<BFloat16>(p); }
FERRULE_KERNEL(topk_large_f32, TopkLargeParameters, topk_large_threads) { topk_large<float>(p); }
FERRULE_KERNEL(topk_large_f64, TopkLargeParameters, topk_large_threads) { topk_large<double>(p); }
