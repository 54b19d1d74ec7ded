// Parameters of pad.cu.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// An axis of the result: its `inside` elements from element number `before` on are those of the array.
struct PaddedAxis {
  int64_t size, before, inside;
  int64_t stride;  // of the array, in bytes
};

struct PadParameters {
  Address from, value, to;
  uint64_t count;      // bytes of the result
  uint64_t alignment;  // bits of all sizes of the run, and of all strides
  PaddedAxis run;      // adjacent bytes in the result and in the array: sizes in bytes
  uint32_t rank;
  uint32_t value_bytes;       // of an item; 0: the value is zero
  PaddedAxis axes[max_rank];  // the others, the last one first
};

}  // namespace ferrule::cuda
