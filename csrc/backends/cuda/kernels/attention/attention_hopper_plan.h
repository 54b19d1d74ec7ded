// Decides whether attention uses wgmma.
//
// The choice depends on the number of queries, like that between the kernels with mma.sync: all give the same bits.
// That mma.sync and wgmma round alike is the assumption that matmul_hopper_plan.h explains. If it is wrong,
// hopper_attention_of() must return nothing.
#pragma once

#include <array>
#include <optional>

#include "kernels/attention/attention_hopper.h"
#include "kernels/planning.h"

namespace ferrule::cuda {

struct HopperAttention {
  std::array<TensorMapShape, AttentionParameters::mask> maps;  // of queries, keys, values
  uint32_t columns, shared_memory;
};

// Returns nothing if mma.sync computes the node: on other GPUs, for lengths of heads outside 33 to 128, with a mask,
// for at most 64 queries, and for operands that no tensor map describes. `p` is that of a kernel for many queries. An
// operand whose buffer is aligned to less than 16 bytes is known only at execution: the kernel copies it without TMA
// then, which takes much longer.
std::optional<HopperAttention> hopper_attention_of(const AttentionParameters& p, const PlannedNode& node,
                                                   const Capabilities& capabilities);

}  // namespace ferrule::cuda
