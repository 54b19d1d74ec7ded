// Products that read weights in blocks, without decoding them to memory first.
#pragma once

#include <optional>

#include "kernels/linear_algebra/matmul_kernels.h"
#include "kernels/planning.h"

namespace ferrule::cuda {

struct BlockProduct {
  const MatmulKernel* kernel;
  uint32_t value;       // of the graph view: the blocks
  uint64_t first_byte;  // of B in it
};

// The kernel for a matmul whose B is decoded from blocks by other nodes of the graph, and only then: as the row of
// matmul takes no blocks, they reach it as `x @ w.astype("float32").T`, or with a further cast to a half. `p` is as for
// the decoded B. Nothing if B must be decoded to memory.
std::optional<BlockProduct> block_product_of(const PlannedNode& node, const MatmulParameters& p, bool is_tensor,
                                             const Capabilities& capabilities);

}  // namespace ferrule::cuda
