// Parameters of the products by wgmma (compute capability 9.0).
#pragma once

#include "kernels/linear_algebra/matmul.h"
#include "parameters/tensor_map.h"

namespace ferrule::cuda {

// `product.a` and `product.b` are not used. The axes of the maps, innermost first: the one along which the operand is
// contiguous, the other one, the batches.
struct MatmulHopperParameters {
  TensorMap a, b;
  MatmulParameters product;
  uint32_t a_has_batches, b_has_batches;  // 0: all batches use one matrix
  uint32_t tiles;                         // of all batches and, if they are split, segments
};

// A tile of M x N elements of the result. Each of two warp groups computes 64 rows; a third one copies.
template <int N, int STAGES>
struct HopperTileShape {
  static constexpr uint32_t m = 128, n = N, depth = 64, threads = 384, stages = STAGES;
  static constexpr uint32_t a_bytes = m * depth * 2, b_bytes = n * depth * 2, stage_bytes = a_bytes + b_bytes;
  static constexpr uint32_t alignment = 1024;  // of a tile in shared memory
  static constexpr uint32_t shared_bytes = stage_bytes * stages + alignment;
};
using HopperLarge = HopperTileShape<256, 4>;
using HopperMedium = HopperTileShape<128, 6>;

}  // namespace ferrule::cuda
