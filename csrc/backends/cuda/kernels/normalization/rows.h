// Parameters of the kernels that normalize rows, and how a row is shared. All of it depends on the width alone, so that
// a row has the same bits in any batch, layout and device.
//
// A vector is V adjacent elements: 16 bytes of them if V divides the width, else one element. Vector v of a row goes to
// thread v % team. Up to 8192 elements are held in registers, 16 or one vector in a thread; longer rows in shared
// memory if the device has enough, otherwise they are read again for each pass.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

inline constexpr uint32_t held_items = 16, most_held_threads = 512;

struct RowParameters {
  Address x, to;
  Layout rows;  // offsets of the rows of x
  uint64_t row_count, width;
  int64_t stride;      // within a row of x
  uint32_t team;       // threads that share a row: a power of two up to 32, or a multiple of 32
  uint32_t in_shared;  // long rows: whether dynamic shared memory holds one
};

}  // namespace ferrule::cuda
