// The common part of the attention kernels that pass over blocks of keys. A simdgroup has the scores of a query with a
// block of keys, one in each lane, so it finds their maximum and sum by shuffles.
//
// Also defined in front: HEAD and VALUE_HEAD, the elements of a query and of a value, rounded up to multiples of BLOCK;
// MASK: 0 none, 1 keeps where it holds, 2 is added; MaskItem, its type in memory; IS_CAUSAL; IS_CHUNKED, whether there
// is more than one chunk; IS_SPLIT, whether a threadgroup has one chunk, whose state goes to scratch memory;
// RESULT_PLACE, the index of the last buffer.
#pragma once
#include "attention/attention_state.metal"

#define BLOCK 32                     // keys, and elements of keys or values that are in threadgroup memory at a time
#define PIECES (VALUE_HEAD / BLOCK)  // of a value

#if MASK
#define MASK_PARAMETER device const MaskItem *mask [[buffer(3)]],
#define MASK_AT(q, j) (mask + mask_start + long(q) * p.mask_row + long(j) * p.mask_column)
#else
#define MASK_PARAMETER
#define MASK_AT(q, j) 0
#endif
#if IS_SPLIT
#define RESULT_PARAMETER device float* parts [[buffer(RESULT_PLACE)]]
#else
#define RESULT_PARAMETER device Stored* to [[buffer(RESULT_PLACE)]]
#endif

inline float greatest_of_simdgroup(float x) {
  for (uint width = BLOCK / 2; width > 0; width /= 2) {
    const float other = simd_shuffle_xor(x, ushort(width));
    x = other > x ? other : x;
  }
  return x;
}
inline float sum_of_simdgroup(float x) {
  for (uint width = BLOCK / 2; width > 0; width /= 2) x += simd_shuffle_xor(x, ushort(width));
  return x;
}

// The score with the item of the mask; the lowest number where the query does not keep the key.
#if MASK == 1
inline float masked_score(float score, device const MaskItem* item) { return *item != 0 ? score : lowest(); }
#elif MASK == 2
inline float masked_score(float score, device const MaskItem* item) { return score + element_at(item, 0); }
#else
inline float masked_score(float score, int) { return score; }
#endif

// A query's state before its values.
struct RowState {
  float greatest, total;
};
inline RowState empty_row() { return RowState{lowest(), 0.0f}; }

// Adds a block of scores, and gives the weight of the lane's key. `factor` is that of the sums before.
inline float weight_of(float score, thread RowState& state, thread float& factor) {
  // NaN counts as infinity here, because either makes the result NaN; so a query whose scores are all NaN keeps some.
  const float found = greatest_of_simdgroup(is_nan(score) ? signed_infinity(0) : score), before = state.greatest;
  state.greatest = found > before ? found : before;
  factor = factor_of(before, state.greatest);
  const float weight = is_lowest(score) ? 0.0f : op_exp(score - state.greatest);
  state.total = state.total * factor + sum_of_simdgroup(weight);
  return weight;
}

// The factors of the sums of the chunks before, and of a chunk's, when its state is added to theirs.
struct MergeFactors {
  float of_before, of_chunk;
};
inline MergeFactors merged(thread RowState& all, RowState chunk) {
  const float before = all.greatest, now = chunk.greatest > before ? chunk.greatest : before;
  const MergeFactors factors = {factor_of(before, now), factor_of(chunk.greatest, now)};
  all.greatest = now;
  all.total = all.total * factors.of_before + chunk.total * factors.of_chunk;
  return factors;
}
