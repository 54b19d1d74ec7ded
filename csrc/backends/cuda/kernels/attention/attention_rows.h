// The mathematics of a row of attention, which all its kernels share: softmax in one pass over blocks of keys (Milakov
// & Gimelshein 2018; Dao 2022).
//
// The bits of a row's result depend on the row and its keys alone. A block of keys gives a part, without regard to the
// blocks before it: its reference, which is the greatest score in units of log 2, rounded up; the weights
// 2^(score - reference), of which no first bits are lost; their total; and the values, weighted and added in the order
// of keys. Then merge() adds the parts in the order of blocks. Because references are integers, scaling is exact. A
// kernel may therefore loop over blocks, or compute them in parallel.
//
// A block of which a row keeps nothing does not change the row. Whether such a block is computed, so that a value that
// is not finite makes the result NaN, is not specified.
#pragma once

#include "kernels/attention/attention.h"
#include "kernels/device.h"

namespace ferrule::cuda::attention {

inline constexpr float infinity = __builtin_huge_valf();

// 2^x to 2 units in the last place; 0 where that is subnormal.
__device__ __forceinline__ float power_of_two(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}

// The factor of a sum whose reference changes. Both references may be infinite.
__device__ __forceinline__ float scaling(float from, float to) { return from == to ? 1.0f : power_of_two(from - to); }

// The reference of a block, from the greatest of its scores; minus infinity if it keeps nothing.
__device__ __forceinline__ float reference_of(float greatest) { return ceilf(greatest); }

// The number to subtract from the scores, so that minus infinity minus itself does not give NaN. A NaN score, which
// maxima ignore, gives a NaN weight.
__device__ __forceinline__ float subtrahend(float reference) { return reference == -infinity ? 0.0f : reference; }

// The factors by which `sum = sum * before + part * of_part` adds a part to the sums of the blocks before it.
struct Merging {
  float before, of_part;
};
// Sets `reference` to that of the result.
__device__ __forceinline__ Merging merging(float& reference, float of_part) {
  const float merged = fmaxf(reference, of_part);
  const Merging factors = {scaling(reference, merged), scaling(of_part, merged)};
  reference = merged;
  return factors;
}
__device__ __forceinline__ float merge(float sum, float part, const Merging& factors) {
  return fmaf(part, factors.of_part, sum * factors.before);
}

// The final result. A row that keeps no key gives zeros.
template <class Item>
__device__ __forceinline__ float quotient(float sum, float total) {
  const float divisor = total == 0.0f ? 1.0f : total;
  return sizeof(Item) == 2 ? sum * (1.0f / divisor) : sum / divisor;
}

// The number of keys. False if it is impossible, which is reported if there is a record.
template <class Parameters>
__device__ __forceinline__ bool count_keys(const Parameters& p, Address record, uint32_t op, uint32_t& keys) {
  keys = p.keys;
  if (p.length_bytes == 0) return true;
  int64_t length;
  if (p.length_bytes == 4)
    length = p.length_is_stored != 0 ? *pointer<const int32_t>(p.length) : static_cast<int32_t>(p.length);
  else
    length = p.length_is_stored != 0 ? *pointer<const int64_t>(p.length) : static_cast<int64_t>(p.length);
  if (length < 0 || length > p.keys) {
    if (record != 0 && threadIdx.x == 0) report(record, Fault::length, op, length, p.keys, 0);
    return false;
  }
  keys = static_cast<uint32_t>(length);
  return true;
}

// Query i keeps the keys before this one.
__device__ __forceinline__ uint32_t keys_before(const AttentionParameters& p, uint32_t keys, uint32_t query) {
  if (p.causal == 0) return keys;
  const int64_t end = static_cast<int64_t>(query) + 1 + keys - p.queries;
  return end <= 0 ? 0 : end < keys ? static_cast<uint32_t>(end) : keys;
}

// The keys that a row keeps. A row after the last one keeps none.
struct Row {
  uint32_t end;  // of the keys
  Address mask;  // its first element

  // `mask` is the mask of the batch.
  template <class Item>
  __device__ __forceinline__ static Row at(const AttentionParameters& p, Address mask, uint32_t member, uint32_t query,
                                           uint32_t keys) {
    if (member >= p.group || query >= p.queries) return {0, mask};
    const int64_t offset = member * p.mask_group + query * p.mask_row;
    return {keys_before(p, keys, query), mask + offset * mask_bytes<Item>(p)};
  }
  template <class Item>
  __device__ __forceinline__ static int64_t mask_bytes(const AttentionParameters& p) {
    return p.mask_kind == AttentionParameters::keeps ? 1 : sizeof(Item);
  }

  // The score of a key in units of log 2, from the product of query and key; minus infinity if the key is not kept.
  template <class Item>
  __device__ __forceinline__ float score(const AttentionParameters& p, float product, uint32_t key) const {
    if (key >= end) return -infinity;
    if (p.mask_kind == AttentionParameters::no_mask) return product * p.log2_scale;
    const int64_t offset = key * p.mask_column;
    if (p.mask_kind == AttentionParameters::keeps)
      return pointer<const uint8_t>(mask)[offset] != 0 ? product * p.log2_scale : -infinity;
    const float score = fmaf(product, p.scale, to_float(pointer<const Item>(mask)[offset]));
    const float scaled = score * 1.44269504088896341f;
    // A mask of the greatest finite numbers must not become infinite.
    if (fabsf(scaled) == infinity && fabsf(score) != infinity) return copysignf(3.40282347e38f, scaled);
    return scaled;
  }
};

// The start of a batch in each operand, in shared memory, since registers are scarce. All threads of the block call
// this.
template <class Item>
__device__ __forceinline__ void find_batch(const AttentionParameters& p, uint64_t batch,
                                           Address (&begins)[AttentionParameters::operands]) {
  const uint32_t operand = threadIdx.x;
  if (operand < AttentionParameters::operands) {
    const int64_t bytes = operand == AttentionParameters::mask ? Row::mask_bytes<Item>(p) : sizeof(Item);
    begins[operand] = p.inputs[operand] + offset_of(p.batches[operand], batch) * bytes;
  }
  __syncthreads();
}
// Whether all rows of an operand begin at multiples of `bytes`.
__device__ __forceinline__ bool is_aligned(const AttentionParameters& p, uint32_t operand, Address begin,
                                           uint32_t bytes) {
  return (p.vectors >> operand & 1) != 0 && begin % bytes == 0;
}

// Offset of a row of queries from the first one of its batch.
__device__ __forceinline__ int64_t query_offset(const AttentionParameters& p, uint32_t row) {
  const uint32_t member = row / p.queries;
  return member * p.query_group + static_cast<int64_t>(row - member * p.queries) * p.query_row;
}

}  // namespace ferrule::cuda::attention
