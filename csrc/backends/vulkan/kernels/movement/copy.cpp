// Copies: in tiles if adjacent elements of the result are far apart in the array; elements of 16 bytes by copy.comp;
// others as an elementwise op.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "graphs/layout.h"
#include "../elementwise.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Axis {
  int64_t size, from, to;
};
struct Parameters {
  Axis axes[FE_MAX_RANK];
  uint32_t rank, tiles, from, to;
};
static_assert(sizeof(Parameters) == FE_MAX_RANK * 24 + 16);

constexpr int64_t tile = 32;        // TILE of transpose.comp
constexpr int64_t narrowest = 8;    // of an axis: a tile of a narrower axis would be mostly empty
constexpr int64_t line_bytes = 64;  // that memory transfers at a time
static_assert(tile * (tile + 1) * 8 <= 16384, "the shared memory that every device has");

int64_t tiles_along(int64_t size) { return size / tile + (size % tile != 0); }

// Null where tiles save nothing: if adjacent elements of the array are adjacent in the result too, are along a narrow
// axis, or are not in one line of memory.
std::optional<Parameters> tiled(const Layout& from, uint32_t to, size_t item_size) {
  uint32_t nearest = 0;
  for (uint32_t axis = 1; axis < from.rank; ++axis)
    if (from.strides[axis] != 0 && std::abs(from.strides[axis]) < std::abs(from.strides[nearest])) nearest = axis;
  if (nearest == 0 || from.shape[0] < narrowest || from.shape[nearest] < narrowest) return std::nullopt;
  if (std::abs(from.strides[nearest]) > line_bytes / 2 / static_cast<int64_t>(item_size)) return std::nullopt;

  Parameters p = {.axes = {}, .rank = from.rank, .tiles = 0, .from = from.value, .to = to};
  int64_t stride = 1;
  for (uint32_t axis = 0; axis < from.rank; ++axis) {
    p.axes[axis] = {.size = from.shape[axis], .from = from.strides[axis], .to = stride};
    stride *= from.shape[axis];
  }
  std::swap(p.axes[1], p.axes[nearest]);
  int64_t tiles = tiles_along(p.axes[0].size) * tiles_along(p.axes[1].size);
  for (uint32_t axis = 2; axis < p.rank; ++axis) tiles *= p.axes[axis].size;
  if (tiles == 0 || tiles > INT32_MAX) return std::nullopt;  // the shader numbers them in 32 bits
  p.tiles = static_cast<uint32_t>(tiles);
  return p;
}

// The Parameters of copy.comp.
struct WideParameters {
  Layout from, to;
  int64_t count;
};

Plan plan_wide_copy(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand out = node.output(0);
  Plan plan = plan_named("copy");
  const WideParameters p = {layout_of(node.input_value(0), node.input(0)), layout_of(node.output_value(0), out),
                            out.count()};
  if (p.count == 0) return plan;
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, {p.from.value}, p.to.value));
  set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
  return plan;
}

Plan plan_copy(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (node.body() == nullptr && x.dtype() == out.dtype() && out.item_size() == 16)
    return plan_wide_copy(node, capabilities);
  std::optional<Parameters> p;
  if (node.body() == nullptr && x.dtype() == out.dtype())
    p = tiled(layout_of(node.input_value(0), x), node.output_value(0), out.item_size());
  if (!p) return plan_elementwise(node, capabilities);
  Plan plan = plan_named(by_item_size("transpose", out));
  plan.launches.push_back(dispatch_of(plan.support.kernel, *p, {p->from}, p->to));
  const uint32_t workgroup = std::min(256u, capabilities.max_workgroup);
  set_grid(plan.launches.back(), uint64_t{p->tiles} * workgroup, capabilities, workgroup);
  return plan;
}

}  // namespace

KERNEL(copy, plan_copy)

}  // namespace ferrule::vulkan
