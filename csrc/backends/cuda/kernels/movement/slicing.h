// Parameters of slicing.cu.
#pragma once

#include "kernels/movement/strided_copy.h"

namespace ferrule::cuda {

// The start of a slice along an axis: an integer in memory, at most `most`. A step along the axis is `from` bytes in
// the source and `to` bytes in the destination.
struct SliceStart {
  Address at;
  int64_t most, from, to;
};

struct SlicingParameters {
  StridedCopyParameters copy;  // without the starts
  Address fault;
  uint32_t start_count, start_bytes, op;
  SliceStart starts[max_rank];
};

}  // namespace ferrule::cuda
