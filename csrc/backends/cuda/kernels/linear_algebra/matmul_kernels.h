// The kernels of matrix products and the products that each is for. matmul_blocks.cpp has those that read blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/linear_algebra/matmul.h"
#include "kernels/planning.h"

namespace ferrule::cuda {

// How a kernel multiplies.
enum class MatmulMethod : uint8_t {
  half_wgmma,   // on compute capability 9.0
  half_mma,     // by mma.sync, like the next two, from compute capability 8.0 on
  tf32_mma,     // float32, if the option `tf32` is set
  byte_mma,     // int8 and uint8
  float32_fma,  // without matrix instructions, like the last
  any_dtype,
};

// The results that a kernel is for.
struct ResultSizes {
  uint32_t least_rows = 1, most_rows = UINT32_MAX, most_columns = UINT32_MAX;
  // Only results of more than half a tile in both directions, with at least one tile for each multiprocessor.
  bool fills_device = false;
};

struct MatmulKernel {
  MatmulMethod method;
  // In names, {dtype} stands for the dtype, and {along} for the axes along which A and B are contiguous: "kn".
  const char* name;
  const char* name_with_epilogue;  // of the kernel that also runs fused ops; null if there is none
  uint32_t m, n, threads;          // of a tile
  ResultSizes sizes;
  // Dynamic shared memory in bytes: of any product, in addition for each operand that is contiguous along M or N, and
  // at least, with fused ops.
  uint32_t shared_memory = 0, memory_of_longer_operand = 0, memory_of_totals = 0;
  int epilogue_compute = 0;    // fused ops need at least this compute capability
  uint32_t static_memory = 0;  // shared memory that dynamic memory must leave

  bool fits(const MatmulParameters& p, const Capabilities& capabilities) const;
  bool runs_epilogue(const MatmulParameters& p, const Capabilities& capabilities) const;
  uint32_t shared_bytes(const MatmulParameters& p, bool with_epilogue) const;
  // The name of the kernel, with {dtype} and {along} replaced.
  std::string full_name(const MatmulParameters& p, std::string_view dtype, bool with_epilogue) const;
};

// The table of kernels. The first one of a possible method that fits computes a product; the last one of each method
// but half_wgmma fits every product.
std::span<const MatmulKernel> matmul_kernels();

// The number of tiles that cover the results of all batches.
inline uint64_t tiles_of(const MatmulParameters& p, uint32_t tile_m, uint32_t tile_n) {
  return p.batches * quotient_up(p.m, tile_m) * quotient_up(p.n, tile_n);
}

}  // namespace ferrule::cuda
