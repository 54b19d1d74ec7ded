// Parameters of the kernels that keep some of the elements. Items that are not zero are found in chunks; `places` says
// how many there are before each chunk, and in all.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

inline constexpr uint32_t compaction_threads = 256, compaction_chunk = 4096;

// A contiguous list of items.
struct FoundItems {
  Address x;
  Address places;  // one int64 for each chunk, and the total
  uint64_t length, chunks;
  uint64_t mask;        // an item is zero if no bit of the mask is set in it: the sign of a float is none
  uint32_t item_bytes;  // of 16 bytes, each half has the mask
};

struct CompactionPlacesParameters {
  FoundItems items;
  Address count;  // the total, as int64
};

// The indices of the items along each axis, in rows; zeros behind the last.
struct CompactionIndicesParameters {
  FoundItems items;
  Address to;     // int64
  uint64_t size;  // rows
  uint32_t rank, is_near;
  int64_t shape[max_rank];
};

// The numbers of the items, as int64, of which `size` are wanted.
struct CompactionKeptParameters {
  FoundItems items;
  Address to;
  uint64_t size;
};

// The slices with these numbers, and zeros behind the last.
struct CompactionSlicesParameters {
  Address from, to, kept, count;
  uint64_t outer_count, length, size, slice_bytes;
};

}  // namespace ferrule::cuda
