// Matrix products of graphs that cuBLASLt can compute.
#pragma once

#include <optional>

#include "cublaslt/products.h"
#include "graphs/plan.h"

namespace ferrule::cuda {

// A launch that calls cuBLASLt for the node in place of the launches of its plan, which follow it. `plan.scratch` grows
// to what it needs. None if the node is no product that cuBLASLt computes.
std::optional<Launch> product_call_of(const PlannedNode& node, Plan& plan, LibraryProducts& products);

}  // namespace ferrule::cuda
