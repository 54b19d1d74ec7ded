// Parameters of topk.cu, topk_short.cu and topk_large.cu.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// The rows of x and of the outputs. A row of an output has k elements, `inner` elements apart.
struct TopkRows {
  Address x, values, indices;
  Layout kept;             // of x, without the axis
  int64_t length, stride;  // of x along the axis
  int64_t k, inner;
  uint32_t is_least;
};

// Candidates: elements of x that may be among the k best of their row, as keys and indices. A row of them follows the
// other.
struct TopkCandidates {
  Address keys, indices;
  uint64_t count;  // of a row
};

// One level of the search: each block finds the k best of a chunk. On the last level a row is one chunk.
struct TopkParameters {
  TopkRows rows;
  TopkCandidates from, to;  // not used on the first and on the last level
  uint64_t chunks;          // of a row
  uint32_t is_first, is_last;
};
inline constexpr uint32_t topk_threads = 512, topk_items = 8, topk_chunk = topk_threads * topk_items, topk_most = 1024;

struct TopkShortParameters {
  TopkRows rows;
  uint64_t row_count;
};
inline constexpr uint32_t topk_short_threads = 256, topk_short_length = 256, topk_short_most = 32;

struct TopkLargeParameters {
  TopkRows rows;
  Address keys, indices;  // of the elements taken: `padded` in each row
  uint64_t padded;        // k, rounded up to a power of two
};
inline constexpr uint32_t topk_large_threads = 1024;

}  // namespace ferrule::cuda
