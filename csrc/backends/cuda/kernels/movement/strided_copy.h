// Parameters of strided_copy.cu, and of kernels that copy in the same way.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// Strides in bytes.
struct CopiedAxis {
  int64_t size, from, to;
};

// A copy of runs: bytes that are adjacent both in the source and in the destination. Axes without a run's bytes, the
// last one first.
struct StridedCopyParameters {
  Address from, to;
  uint64_t to_offset;  // bytes from `to` to the first run
  uint64_t runs, run_bytes;
  uint64_t alignment;  // run_bytes | all strides: what divides it and both addresses, divides each run's addresses
  uint32_t rank;
  uint32_t may_be_in_place;  // nothing is copied if both addresses are the same
  CopiedAxis axes[max_rank];
};

}  // namespace ferrule::cuda
