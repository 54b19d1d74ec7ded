// Parameters of transpose.cu, and the tiles of its blocks.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// `from` and `to` are the strides in the array and in the result, in items.
struct TransposedAxis {
  int64_t size, from, to;
};

struct TransposeParameters {
  Address from, to;
  // Bits of the strides in bytes, without the axis that is contiguous there: what divides them and the address divides
  // the address of each row.
  uint64_t from_alignment, to_alignment;
  uint32_t rank;
  uint32_t across_bits, along_bits;  // a tile has 1 << across_bits items of axes[0], and 1 << along_bits of axes[1]
  uint32_t pitch;                    // of a tile in shared memory, in items
  TransposedAxis axes[max_rank];     // the axis contiguous in the result, the one contiguous in the array, the others
};

inline constexpr uint32_t transpose_threads = 256;

// Items of a square tile's side, as a power of two: a row has 128 or 256 bytes, a tile 8 or 16 KiB. In shared memory,
// items follow each row, and each group of as many rows as 16 bytes have items: without them, threads that read 16
// bytes of a column each would wait for the same bank.
template <int item_bytes>
struct TransposeTile {
  static constexpr uint32_t bits = item_bytes == 1 ? 7 : item_bytes <= 4 ? 6 : 5;
  static constexpr uint32_t after_row = item_bytes >= 4 ? 1 : 4 / item_bytes;
  static constexpr uint32_t group = 16 / item_bytes;
  static constexpr uint32_t after_group = item_bytes == 16  ? 0
                                          : item_bytes == 8 ? 1
                                          : item_bytes == 4 ? 2
                                          : item_bytes == 2 ? 4
                                                            : 16;
};

}  // namespace ferrule::cuda
