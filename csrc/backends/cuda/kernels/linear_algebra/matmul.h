// Parameters of the kernels of matrix products.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// to = a @ b for each batch: M x K by K x N. Strides are in elements.
//
// K is cut into segments. Each is added up in the order of K, and then the sums of segments in their order, whichever
// kernel does it: so the tile, and whether one block or many compute an element's segments, do not change a bit.
struct MatmulParameters {
  Address a, b;
  Address to;  // the result, contiguous except for to_row and to_column; or the sums of segments
  Layout a_batches, b_batches;
  int64_t a_row, a_column, b_row, b_column, to_row, to_column;
  uint64_t batches;
  uint32_t m, n, k;
  uint32_t segment;               // the length of a segment: a multiple of 128
  uint32_t segments;              // at least one
  uint32_t is_split;              // 1: each block computes one segment, and leaves its sums for matmul_segments.cu
  uint32_t a_along_k, b_along_k;  // 1 if neighbours in memory are neighbours along K
  uint32_t zero;                  // 0 (matmul_tiles.h)
};

// Adds the sums of segments: `segments` times `count` of them.
struct MatmulSegmentsParameters {
  Address partials, to;
  uint64_t count;
  uint32_t segments;
};

}  // namespace ferrule::cuda
