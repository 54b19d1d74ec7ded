// Copies: in tiles if adjacent elements of the result are far apart in the array; block dtypes in words; elements of 16
// bytes as they are; others as an elementwise op.
#include <cstdlib>
#include <utility>

#include "kernels/block_formats.h"
#include "kernels/elementwise_plan.h"
#include "kernels/movement/movement_plan.h"

namespace ferrule::metal {
namespace {

struct Axis {
  int64_t size, from, to;
};
struct Parameters {
  Axis axes[FE_MAX_RANK];
  uint32_t rank, tiles;
};

constexpr int64_t tile = 32;        // tile_size of transpose.metal
constexpr int64_t narrowest = 8;    // of an axis: a tile of a narrower axis would be mostly empty
constexpr int64_t line_bytes = 64;  // that memory transfers at a time

// Returns no parameters where tiles save nothing: if adjacent elements of the array are adjacent in the result too, are
// along a narrow axis, or are not in one line of memory.
std::optional<Parameters> tiled(const Layout& from, size_t item_size) {
  uint32_t nearest = 0;
  for (uint32_t axis = 1; axis < from.rank; ++axis)
    if (from.strides[axis] != 0 && std::abs(from.strides[axis]) < std::abs(from.strides[nearest])) nearest = axis;
  if (nearest == 0 || from.shape[0] < narrowest || from.shape[nearest] < narrowest) return std::nullopt;
  if (std::abs(from.strides[nearest]) > line_bytes / 2 / static_cast<int64_t>(item_size)) return std::nullopt;

  Parameters p = {.axes = {}, .rank = from.rank, .tiles = 0};
  int64_t stride = 1;
  for (uint32_t axis = 0; axis < from.rank; ++axis) {
    p.axes[axis] = {.size = from.shape[axis], .from = from.strides[axis], .to = stride};
    stride *= from.shape[axis];
  }
  std::swap(p.axes[1], p.axes[nearest]);
  int64_t tiles = quotient_up(p.axes[0].size, tile) * quotient_up(p.axes[1].size, tile);
  for (uint32_t axis = 2; axis < p.rank; ++axis) tiles *= p.axes[axis].size;
  if (tiles == 0 || tiles > INT32_MAX) return std::nullopt;  // the kernel numbers them in 32 bits
  p.tiles = static_cast<uint32_t>(tiles);
  return p;
}

Plan plan_copy_blocks(const PlannedNode& node) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  Plan plan = plan_named("copy");
  plan.support.row_inputs = {0};
  const sdk::BlockWords words(x.dtype_info());
  const CopyParameters p = {layout_of(sdk::BlockItems(x, words.count)), layout_of(sdk::BlockItems(out, words.count)),
                            static_cast<uint64_t>(out.count() / block_elements(out) * words.count)};
  if (p.count > 0)
    plan.launches.push_back(movement_dispatch("copy", "copy_items", item_definition(words), p, {node.input_value(0)},
                                              {node.output_value(0)}, p.count));
  return plan;
}

Plan plan_copy(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (is_block(x) && x.dtype() == out.dtype()) return plan_copy_blocks(node);
  std::optional<Parameters> p;
  if (node.body() == nullptr && x.dtype() == out.dtype()) p = tiled(layout_of(x), out.item_size());
  if (!p && node.body() == nullptr && x.dtype() == out.dtype() && out.item_size() == 16) {
    Plan plan = plan_named("copy");
    add_copy(plan, node, "struct Item {\n  ulong halves[2];\n};\n");
    return plan;
  }
  if (!p) return plan_elementwise(node, capabilities);
  Plan plan = plan_named("transpose");
  constexpr uint64_t threads = 256;
  plan.launches.push_back(movement_dispatch("transpose", "transpose_tiles", item_definition(out), *p,
                                            {node.input_value(0)}, {node.output_value(0)}, p->tiles * threads));
  return plan;
}

}  // namespace

KERNEL(copy, plan_copy)

}  // namespace ferrule::metal
