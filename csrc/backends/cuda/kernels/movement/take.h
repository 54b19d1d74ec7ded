// Parameters of take.cu.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

struct TakeParameters {
  Address from, indices, to, fault;
  // The axes of x before and after the indexed one, in bytes; the latter without those that make a run of adjacent
  // bytes.
  Layout outer, inner;
  Layout places;  // of the indices
  uint64_t outer_count, inner_count, place_count, run_bytes;
  uint64_t alignment;    // run_bytes | all strides of x: see StridedCopyParameters
  int64_t size, stride;  // of the indexed axis; the stride in bytes
  int64_t axis;
  uint32_t index_bytes, op;
};

}  // namespace ferrule::cuda
