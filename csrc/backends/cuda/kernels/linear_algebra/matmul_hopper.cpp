#include <algorithm>

#include "kernels/linear_algebra/matmul_hopper_plan.h"

namespace ferrule::cuda {
namespace {

constexpr uint32_t shortest_k = 64;  // of less, a step would mostly multiply zeros
constexpr uint32_t row_items = 64;   // of a tile in shared memory

// `outer` is M or N, and `tile` its part of a tile.
std::optional<MappedOperand> map_of(const MatmulParameters& p, bool along_k, uint32_t outer, uint32_t tile,
                                    int64_t outer_stride, int64_t k_stride, const Layout& batches) {
  const int64_t inner_stride = along_k ? k_stride : outer_stride, row_stride = along_k ? outer_stride : k_stride;
  if (inner_stride != 1 || row_stride <= 0 || batches.rank > 1) return std::nullopt;
  const bool has_batches = batches.rank == 1 && batches.strides[0] != 0;
  if (has_batches && batches.strides[0] < 0) return std::nullopt;
  const uint64_t row_bytes = static_cast<uint64_t>(row_stride) * 2;
  MappedOperand operand{};
  operand.has_batches = has_batches;
  operand.map.sizes = {along_k ? p.k : outer, along_k ? outer : p.k, has_batches ? p.batches : 1};
  operand.map.strides = {row_bytes, has_batches ? static_cast<uint64_t>(batches.strides[0]) * 2 : row_bytes};
  operand.map.box = {row_items, along_k ? tile : row_items, 1};
  if (!can_be_mapped(operand.map)) return std::nullopt;
  return operand;
}

}  // namespace

std::optional<MappedOperands> mapped_operands_of(const MatmulParameters& p, const MatmulKernel& kernel,
                                                 const PlannedNode& node, const Capabilities& capabilities) {
  if (!capabilities.has_wgmma || p.k < shortest_k || !begin_at_mapped_addresses(node, 2)) return std::nullopt;
  const auto a = map_of(p, p.a_along_k != 0, p.m, kernel.m, p.a_row, p.a_column, p.a_batches);
  const auto b = map_of(p, p.b_along_k != 0, p.n, kernel.n, p.b_column, p.b_row, p.b_batches);
  if (!a || !b) return std::nullopt;
  return MappedOperands{*a, *b};
}

Launch launch_of(const MappedOperands& operands, const MatmulKernel& kernel, std::string name,
                 const MatmulParameters& p, uint64_t tiles, const PlannedNode& node, const Capabilities& capabilities) {
  if (tiles > INT32_MAX) throw sdk::Error(FE_UNSUPPORTED, std::to_string(tiles) + " tiles are more than it can number");
  const MatmulHopperParameters parameters{.a = {},
                                          .b = {},
                                          .product = p,
                                          .a_has_batches = operands.a.has_batches ? 1U : 0U,
                                          .b_has_batches = operands.b.has_batches ? 1U : 0U,
                                          .tiles = static_cast<uint32_t>(tiles)};
  Launch launch = launch_of(std::move(name), parameters, std::min<uint64_t>(tiles, capabilities.multiprocessors),
                            kernel.threads, kernel.shared_memory);
  launch.maps(offsetof(MatmulHopperParameters, a), node.input_value(0), operands.a.map);
  launch.maps(offsetof(MatmulHopperParameters, b), node.input_value(1), operands.b.map);
  return launch;
}

}  // namespace ferrule::cuda
