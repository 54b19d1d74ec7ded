// Products that read weights in blocks, without decoding them to memory first.
#pragma once

#include <optional>

#include "graphs/plan.h"

namespace ferrule::metal {

// The plan of a matmul of floats whose B other nodes of the graph decode from blocks, and only then: as the row of
// matmul takes no blocks, they reach it as `x @ w.astype("float32").T`, or with a further cast to a half. Nothing if B
// must be decoded to memory.
std::optional<Plan> plan_block_product(const PlannedNode& node);

}  // namespace ferrule::metal
