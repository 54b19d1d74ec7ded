// Decides whether products of float16 and bfloat16 use wgmma.
//
// The choice depends on M, too, like that of the tiles with mma.sync: both give the same bits. On compute
// capability 9.0 m16n8k16 and wgmma compute one element by the same function. The 16 products and the sum are aligned
// to the greatest of them, cut to 25 bits after the point, added exactly, and rounded towards zero, in no order that
// could differ. NVIDIA does not document it: it is the model of Xie et al. 2025 (arXiv:2511.10909, "MMA-Sim"), who
// report equal bits in random tests on GPUs. Both are sums in order in the emulator, so test_matmul_hopper.py proves it
// only on a GPU. If it is wrong there, mapped_operands_of() must return nothing until matmul_rows and the products of
// blocks use wgmma, too.
#pragma once

#include <optional>
#include <string>

#include "kernels/linear_algebra/matmul_hopper.h"
#include "kernels/linear_algebra/matmul_kernels.h"
#include "kernels/planning.h"

namespace ferrule::cuda {

struct MappedOperand {
  TensorMapShape map;
  bool has_batches;
};
struct MappedOperands {
  MappedOperand a, b;
};

// The tensor maps by which a kernel with wgmma reads A and B; nothing on other GPUs, and for operands that no tensor
// map describes. An operand whose buffer is aligned to less than 16 bytes is known only at execution: the kernel copies
// it without TMA then, which takes much longer.
std::optional<MappedOperands> mapped_operands_of(const MatmulParameters& p, const MatmulKernel& kernel,
                                                 const PlannedNode& node, const Capabilities& capabilities);

// A launch of all multiprocessors for `tiles` tiles, which reads A and B. `p` is as for the kernels with mma.sync.
Launch launch_of(const MappedOperands& operands, const MatmulKernel& kernel, std::string name,
                 const MatmulParameters& p, uint64_t tiles, const PlannedNode& node, const Capabilities& capabilities);

}  // namespace ferrule::cuda
