// Slices whose starts are operands: dynamic_slice and update_slice.
#include <ferrule/ops.h>

#include <cstddef>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

enum Task : uint32_t { copy_x = 0, write_slice = 1, read_slice = 2 };  // TASK of slicing.comp

struct Start {
  uint32_t value, axis;
  int64_t most, stride;
};
struct Parameters {
  Layout moved, to;
  int64_t count;
  uint32_t result, start_count;
  Start starts[FE_MAX_RANK];
};
static_assert(offsetof(Parameters, starts) == 2 * sizeof(Layout) + 16);

// The starts are the inputs from `first` on, for a slice of `size` in `x`.
std::optional<std::string> read_starts(const PlannedNode& node, uint32_t first, const sdk::Operand& x,
                                       std::span<const int64_t> size, Parameters& p, std::vector<uint32_t>& reads) {
  const auto rank = static_cast<uint32_t>(x.rank());
  if (node.input_count() != first + rank || size.size() != rank) return "there is not one start for each axis";
  p.start_count = rank;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    const sdk::Operand start = node.input(first + axis);
    if (start.rank() != 0 || start.dtype() != node.input(first).dtype() || (!start.is("int32") && !start.is("int64")))
      return "the starts are not integers of one dtype";
    if (size[axis] > x.shape()[axis]) return "the slice is larger than x";
    reads.push_back(node.input_value(first + axis));
    p.starts[axis] = {reads.back(), axis, x.shape()[axis] - size[axis], x.strides()[axis]};
  }
  return std::nullopt;
}

void add(Plan& plan, Parameters p, std::vector<uint32_t> reads, Task task, const sdk::Operand& shape,
         uint32_t start_bytes, const Capabilities& capabilities) {
  p.count = shape.count();
  if (p.count == 0) return;
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, std::move(reads), p.to.value, {task, start_bytes}));
  set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
}

Plan plan_dynamic_slice(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (x.dtype() != out.dtype() || x.rank() != out.rank()) return refusal("the result is not a slice of x");
  Plan plan = plan_named(by_item_size("slicing", out));
  Parameters p{};
  std::vector<uint32_t> reads = {node.input_value(0)};
  if (const auto reason = read_starts(node, 1, x, out.shape(), p, reads)) return refusal(*reason);
  p.result = node.output_value(0);
  p.moved = layout_of(node.input_value(0), out.shape(), x.strides());
  p.to = layout_of(p.result, out);
  add(plan, p, std::move(reads), read_slice, out, static_cast<uint32_t>(node.input(1).item_size()), capabilities);
  return plan;
}

Plan plan_update_slice(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), value = node.input(1), out = node.output(0);
  if (x.dtype() != out.dtype() || value.dtype() != out.dtype() || x.rank() != out.rank() ||
      !std::equal(x.shape().begin(), x.shape().end(), out.shape().begin()))
    return refusal("the operands differ in dtype or shape");
  Plan plan = plan_named(by_item_size("slicing", out));
  Parameters p{};
  std::vector<uint32_t> reads = {node.input_value(1)};
  if (const auto reason = read_starts(node, 2, out, value.shape(), p, reads)) return refusal(*reason);
  p.result = node.output_value(0);
  const auto start_bytes = static_cast<uint32_t>(node.input(2).item_size());
  Parameters whole = p;
  whole.moved = layout_of(node.input_value(0), x);
  whole.to = layout_of(p.result, out);
  add(plan, whole, {node.input_value(0)}, copy_x, out, start_bytes, capabilities);
  p.moved = layout_of(node.input_value(1), value);
  p.to = layout_of(p.result, value.shape(), out.strides());
  add(plan, p, std::move(reads), write_slice, value, start_bytes, capabilities);
  return plan;
}

}  // namespace

KERNEL(dynamic_slice, plan_dynamic_slice)
KERNEL(update_slice, plan_update_slice)

}  // namespace ferrule::vulkan
