// Slices whose starts are operands: dynamic_slice and update_slice.
#include <ferrule/ops.h>

#include <algorithm>

#include "kernels/movement/slicing.h"
#include "kernels/planning.h"
#include "strided_copy_launch.h"

namespace ferrule::cuda {
namespace {

// Adds the launch for a slice of `x` at the starts, which are the inputs from `first` on. `steps_in_to` says whether x
// is the destination. Returns a reason to refuse.
std::optional<std::string> add_slice(Plan& plan, const PlannedNode& node, uint32_t first, const sdk::Operand& x,
                                     std::span<const int64_t> size, const StridedCopyParameters& copy, uint32_t from,
                                     uint32_t to, bool steps_in_to, const Capabilities& capabilities) {
  const auto rank = static_cast<uint32_t>(x.rank());
  if (node.input_count() != first + rank || size.size() != rank) return "there is not one start for each axis";
  SlicingParameters p{};
  p.copy = copy;
  p.op = node.id();
  p.start_count = rank;
  const ItemLayout items = items_of(x);
  for (uint32_t axis = 0; axis < rank; ++axis) {
    const sdk::Operand start = node.input(first + axis);
    if (start.rank() != 0 || start.dtype() != node.input(first).dtype() || (!start.is("int32") && !start.is("int64")))
      return "the starts are not integers of one dtype";
    if (size[axis] > x.shape()[axis]) return "the slice is larger than x";
    p.start_bytes = static_cast<uint32_t>(start.item_size());
    const int64_t step = items.strides[axis] * static_cast<int64_t>(x.item_size());
    p.starts[axis] = {0, x.shape()[axis] - size[axis], steps_in_to ? 0 : step, steps_in_to ? step : 0};
  }
  if (copy.runs == 0) return std::nullopt;
  Launch& launch = plan.launches.emplace_back(launch_of(
      "slicing.bytes", p, copying_blocks(copy.runs * copy.run_bytes, copy.alignment, capabilities), copying_threads));
  launch.reads(offsetof(SlicingParameters, copy) + offsetof(StridedCopyParameters, from), from);
  launch.writes(offsetof(SlicingParameters, copy) + offsetof(StridedCopyParameters, to), to);
  for (uint32_t axis = 0; axis < rank; ++axis)
    launch.reads(offsetof(SlicingParameters, starts) + axis * sizeof(SliceStart) + offsetof(SliceStart, at),
                 node.input_value(first + axis));
  launch.reports_faults(offsetof(SlicingParameters, fault));
  return std::nullopt;
}

Plan plan_dynamic_slice(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (x.dtype() != out.dtype() || x.rank() != out.rank()) return refusal("the result is not a slice of x");
  Plan plan;
  if (x.dtype_info().block_elements != 1) plan.support.row_inputs = {0};
  const StridedCopyParameters copy =
      strided_copy(items_of(x, out.shape(), x.strides()), items_of(out).strides, out.item_size());
  if (const auto reason = add_slice(plan, node, 1, x, out.shape(), copy, node.input_value(0), node.output_value(0),
                                    false, capabilities))
    return refusal(*reason);
  return plan;
}

// Writes the slice into the output, which has x or a copy of it.
Plan plan_update_slice(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), value = node.input(1), out = node.output(0);
  if (x.dtype() != out.dtype() || value.dtype() != out.dtype() || x.rank() != out.rank() ||
      !std::equal(x.shape().begin(), x.shape().end(), out.shape().begin()))
    return refusal("the operands differ in dtype or shape");
  if (out.dtype_info().block_elements != 1) return refusal("it writes no blocks");
  Plan plan;
  if (node.input_value(0) != node.output_value(0)) {
    StridedCopyParameters whole = strided_copy(items_of(x), items_of(out).strides, out.item_size());
    whole.may_be_in_place = 1;
    add_strided_copy(plan, whole, node.input_value(0), node.output_value(0), capabilities);
  }
  const StridedCopyParameters copy = strided_copy(items_of(value), items_of(out).strides, out.item_size());
  if (const auto reason = add_slice(plan, node, 2, out, value.shape(), copy, node.input_value(1), node.output_value(0),
                                    true, capabilities))
    return refusal(*reason);
  return plan;
}

}  // namespace

KERNEL(dynamic_slice, plan_dynamic_slice)
KERNEL(update_slice, plan_update_slice)

}  // namespace ferrule::cuda
