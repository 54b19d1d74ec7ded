// The common part of the attention kernels. The keys are cut into chunks of CHUNK, whose states are merged in order; so
// the bits of a query's result do not depend on whether one threadgroup has all chunks or each has one. Keys that a
// query does not keep do not change a bit of its result.
//
// Defined in front: Stored, the type of an element in memory; element_at, and store_element, which rounds; Length, the
// type of the number of keys, and HAS_LENGTH, whether it is an operand.
#pragma once
#include "interface.metal"
#include "elementwise/exponential.metal"

#define CHUNK 256

struct Parameters {
  Layout query_batches, key_batches, value_batches, mask_batches;
  long query_row, query_column, key_row, key_column, value_row, value_column, mask_row, mask_column;
  ulong batches;
  uint queries, keys;
  uint head, value_head;
  float scale;
  uint chunks;
  uint result, unused;  // result: for messages
};

#if HAS_LENGTH
#define LENGTH_PARAMETER device const Length *length [[buffer(LENGTH_PLACE)]],
// False if there are not as many keys.
inline bool count_keys(device const Length* length, uint most, thread uint* keys) {
  *keys = uint(length[0]);
  return length[0] >= 0 && long(length[0]) <= long(most);
}
#define FIND_KEYS(keys) count_keys(length, p.keys, &keys)
#define GIVEN_LENGTH long(length[0])
#else
#define LENGTH_PARAMETER
#define FIND_KEYS(keys) ((keys = p.keys), true)
#define GIVEN_LENGTH 0
#endif

inline float lowest() { return signed_infinity(sign_mask); }
inline bool is_lowest(float x) { return is_infinite(x) && is_negative(x); }

// The factor of sums whose greatest score was `before`, now that it is `greatest`. While no key is kept, there is
// nothing to scale, and the difference to minus infinity would be NaN.
inline float factor_of(float before, float greatest) {
  return greatest == before ? 1.0f : is_lowest(before) ? 0.0f : op_exp(before - greatest);
}

// A query that keeps no key gives sums of zeros times values: zeros, or NaN where a value is not finite. A sum of zero
// is made positive: its sign depends on the chunks.
inline float result_of(float sum, float total, float greatest) {
  return op_divide(sum + 0.0f, is_lowest(greatest) ? 1.0f : total);
}
