// Copies: in tiles if adjacent elements of the result are far apart in the array; by runs of bytes if these are long,
// or the items are too large for elementwise ops; otherwise as an elementwise op.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "graphs/layout.h"
#include "kernels/elementwise_plan.h"
#include "kernels/movement/transpose.h"
#include "kernels/planning.h"
#include "strided_copy_launch.h"

namespace ferrule::cuda {
namespace {

constexpr int64_t narrowest = 8;    // of an axis: elements of a narrower axis are in few lines of memory
constexpr int64_t line_bytes = 64;  // that memory transfers at a time
constexpr uint64_t long_run = 64;   // bytes

// Items of a tile along an axis: as many as in a square tile, or fewer if the axis is shorter.
uint32_t bits_along(int64_t size, uint32_t most) {
  uint32_t bits = 4;  // one group of 16 bytes has at most so many items
  while (bits < most && (int64_t{1} << bits) < size) ++bits;
  return bits;
}

struct TileShape {
  uint32_t bits, after_row, group, after_group;
};
template <int item_bytes>
constexpr TileShape shape_of = {TransposeTile<item_bytes>::bits, TransposeTile<item_bytes>::after_row,
                                TransposeTile<item_bytes>::group, TransposeTile<item_bytes>::after_group};
TileShape tile_of(size_t item_bytes) {
  switch (item_bytes) {
    case 1:
      return shape_of<1>;
    case 2:
      return shape_of<2>;
    case 4:
      return shape_of<4>;
    case 8:
      return shape_of<8>;
    default:
      return shape_of<16>;
  }
}

// Null where tiles save nothing: if adjacent elements of the array are adjacent in the result too, are along a narrow
// axis, or are not in one line of memory.
std::optional<TransposeParameters> tiled(const Layout& from, size_t item_size) {
  uint32_t nearest = 0;
  if (from.strides[0] == 0) return std::nullopt;
  for (uint32_t axis = 1; axis < from.rank; ++axis)
    if (from.strides[axis] != 0 && std::abs(from.strides[axis]) < std::abs(from.strides[nearest])) nearest = axis;
  if (nearest == 0 || from.shape[0] < narrowest || from.shape[nearest] < narrowest) return std::nullopt;
  if (std::abs(from.strides[nearest]) > line_bytes / 2 / static_cast<int64_t>(item_size)) return std::nullopt;

  const auto bytes = static_cast<uint32_t>(item_size);
  TransposeParameters p{};
  p.rank = from.rank;
  int64_t stride = 1;
  for (uint32_t axis = 0; axis < from.rank; ++axis) {
    p.axes[axis] = {.size = from.shape[axis], .from = from.strides[axis], .to = stride};
    stride *= from.shape[axis];
  }
  std::swap(p.axes[1], p.axes[nearest]);
  // A tile always has the same number of items: where one axis is short, it has more of the other.
  const TileShape tile = tile_of(item_size);
  const uint32_t most = tile.bits;
  p.along_bits = bits_along(p.axes[1].size, most);
  p.across_bits = p.along_bits < most ? 2 * most - p.along_bits : bits_along(p.axes[0].size, most);
  p.along_bits = 2 * most - p.across_bits;
  p.pitch = (1u << p.along_bits) + tile.after_row;
  for (uint32_t axis = 0; axis < p.rank; ++axis) {
    if (axis != 1) p.from_alignment |= static_cast<uint64_t>(p.axes[axis].from) * bytes;
    if (axis != 0) p.to_alignment |= static_cast<uint64_t>(p.axes[axis].to) * bytes;
  }
  return p;
}

std::optional<Launch> tiled_launch(const Layout& layout, const sdk::Operand& out) {
  const auto p = tiled(layout, out.item_size());
  if (!p) return std::nullopt;
  const auto tiles_along = [](int64_t size, uint32_t bits) {
    return static_cast<int64_t>(quotient_up(static_cast<uint64_t>(size), uint64_t{1} << bits));
  };
  int64_t tiles = tiles_along(p->axes[0].size, p->across_bits);
  for (uint32_t axis = 1; axis < p->rank; ++axis) {
    const int64_t more = axis == 1 ? tiles_along(p->axes[1].size, p->along_bits) : p->axes[axis].size;
    if (tiles > INT32_MAX / more) return std::nullopt;  // the kernel numbers them in 32 bits
    tiles *= more;
  }
  const TileShape tile = tile_of(out.item_size());
  const uint32_t columns = 1u << p->across_bits;
  const uint32_t items = columns * p->pitch + columns / tile.group * tile.after_group;
  return launch_of(by_item_size("transpose", out), *p, static_cast<uint64_t>(tiles), transpose_threads,
                   items * static_cast<uint32_t>(out.item_size()));
}

Plan plan_copy(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  const bool is_block = x.dtype_info().block_elements != 1;
  if (node.body() != nullptr || x.dtype() != out.dtype() || (!is_block && node.is_scalar_input(0)))
    return plan_elementwise(node, capabilities);
  Plan plan;
  if (is_block) plan.support.row_inputs = {0};
  if (out.count() == 0) return plan;
  if (!is_block)
    if (auto launch = tiled_launch(layout_of(x), out)) {
      launch->reads(offsetof(TransposeParameters, from), node.input_value(0));
      launch->writes(offsetof(TransposeParameters, to), node.output_value(0));
      plan.launches.push_back(std::move(*launch));
      return plan;
    }
  const StridedCopyParameters p = strided_copy(items_of(x), items_of(out).strides, out.item_size());
  if (!is_block && out.item_size() <= 8 && p.run_bytes < long_run) return plan_elementwise(node, capabilities);
  add_strided_copy(plan, p, node.input_value(0), node.output_value(0), capabilities);
  return plan;
}

}  // namespace

KERNEL(copy, plan_copy)

}  // namespace ferrule::cuda
