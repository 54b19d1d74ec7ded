// Parameters of attention by wgmma and TMA (compute capability 9.0).
#pragma once

#include "kernels/attention/attention.h"
#include "parameters/tensor_map.h"

namespace ferrule::cuda {

// The axes of the maps, innermost first: a head's items, rows, and two axes of batches: those of
// `attention.batches[operand]` whose stride is not 0, the last one first. `attention.inputs` is not used.
struct AttentionHopperParameters {
  TensorMap maps[AttentionParameters::mask];  // of queries, keys, values
  AttentionParameters attention;
};

// A thread block has 128 rows of queries, 64 for each of two warp groups; a third one copies. Tiles in shared memory
// have 128 rows, in parts of 64 columns: one for the queries, and rings of tiles of keys and of values.
template <int COLUMNS>
struct AttentionHopperShape {
  static constexpr uint32_t columns = COLUMNS, rows = 128, threads = 384, stages = 2;
  static constexpr uint32_t row_bytes = 128, part_bytes = rows * row_bytes, tile_bytes = COLUMNS / 64 * part_bytes;
  static constexpr uint32_t alignment = 1024;  // of a tile
  static constexpr uint32_t shared_bytes = tile_bytes * (1 + 2 * stages) + alignment;
  static_assert(rows == attention_wide_block);
};

}  // namespace ferrule::cuda
