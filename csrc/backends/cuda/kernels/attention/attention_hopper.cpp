#include <algorithm>

#include "kernels/attention/attention_hopper_plan.h"

namespace ferrule::cuda {
namespace {

using P = AttentionParameters;

constexpr uint32_t shortest_head = 33;  // the tiles have 64 columns at least
// From this number on, queries fill more than half of the rows of a thread block. An estimate, not measured.
constexpr uint32_t fewest_queries = 65;

std::optional<TensorMapShape> map_of(uint32_t width, uint32_t rows, int64_t row_stride, const Layout& batches) {
  if (row_stride <= 0) return std::nullopt;
  const auto row_bytes = static_cast<uint64_t>(row_stride) * 2;
  TensorMapShape map{.axes = 4,
                     .sizes = {width, rows, 1, 1},
                     .strides = {row_bytes, row_bytes, row_bytes},
                     .box = {64, attention_wide_block, 1, 1}};
  uint32_t found = 0;
  for (uint32_t axis = 0; axis < batches.rank; ++axis) {
    if (batches.strides[axis] == 0) continue;
    if (batches.strides[axis] < 0 || found == 2) return std::nullopt;
    map.sizes[2 + found] = static_cast<uint64_t>(batches.shape[axis]);
    map.strides[1 + found++] = static_cast<uint64_t>(batches.strides[axis]) * 2;
  }
  if (!can_be_mapped(map)) return std::nullopt;
  return map;
}

}  // namespace

std::optional<HopperAttention> hopper_attention_of(const AttentionParameters& p, const PlannedNode& node,
                                                   const Capabilities& capabilities) {
  const uint32_t head = std::max(p.head, p.value_head);
  if (!capabilities.has_wgmma || head < shortest_head || head > 128 || p.mask_kind != P::no_mask ||
      p.queries < fewest_queries || !begin_at_mapped_addresses(node, P::mask))
    return std::nullopt;
  HopperAttention found{};
  found.columns = head <= 64 ? 64 : 128;
  found.shared_memory = head <= 64 ? AttentionHopperShape<64>::shared_bytes : AttentionHopperShape<128>::shared_bytes;
  if (found.shared_memory > capabilities.shared_memory) return std::nullopt;
  const std::optional<TensorMapShape> maps[] = {map_of(p.head, p.queries, p.query_row, p.batches[P::query]),
                                                map_of(p.head, p.keys, p.key_row, p.batches[P::key]),
                                                map_of(p.value_head, p.keys, p.value_row, p.batches[P::value])};
  for (uint32_t i = 0; i < P::mask; ++i) {
    if (!maps[i]) return std::nullopt;
    found.maps[i] = *maps[i];
  }
  return found;
}

}  // namespace ferrule::cuda
