// pad: adds elements around an array.
#include <ferrule/ops.h>

#include "kernels/movement/pad.h"
#include "kernels/planning.h"
#include "strided_copy_launch.h"

namespace ferrule::cuda {
namespace {

Plan plan_pad(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (x.dtype() != out.dtype() || (node.input_count() > 1 && node.input(1).dtype() != out.dtype()))
    return refusal("the operands differ in dtype");
  if (out.dtype_info().block_elements != 1) return refusal("it pads no blocks");
  Plan plan = plan_named("pad.bytes");
  if (out.count() == 0) return plan;

  const auto& attributes = node.attributes<fe_pad_attributes>();
  const auto item = static_cast<int64_t>(out.item_size());
  PadParameters p{};
  p.run = {item, 0, item, 1};
  for (auto k = static_cast<size_t>(out.rank()); k-- > 0;) {
    const PaddedAxis axis = {out.shape()[k], attributes.before.data[k], x.shape()[k], x.strides()[k] * item};
    if (axis.size == 1 && axis.inside == 1) continue;
    // Axes are one axis if the last of them has nothing added, and its elements and those of the other are adjacent.
    PaddedAxis& last = p.rank == 0 ? p.run : p.axes[p.rank - 1];
    const bool is_one = last.size == last.inside && sdk::is_one_axis(axis.stride, last.stride, last.size);
    if (is_one)
      last = {axis.size * last.size, axis.before * last.size, axis.inside * last.size, last.stride};
    else
      p.axes[p.rank++] = axis;
  }
  p.count = static_cast<uint64_t>(out.count() * item);
  p.alignment = static_cast<uint64_t>(p.run.size | p.run.before | p.run.inside);
  for (uint32_t axis = 0; axis < p.rank; ++axis) p.alignment |= static_cast<uint64_t>(p.axes[axis].stride);
  if (node.input_count() > 1) p.value_bytes = static_cast<uint32_t>(item);
  Launch& launch = plan.launches.emplace_back(
      launch_of(plan.support.kernel, p, copying_blocks(p.count, p.alignment, capabilities), copying_threads));
  launch.reads(offsetof(PadParameters, from), node.input_value(0));
  if (node.input_count() > 1) launch.reads(offsetof(PadParameters, value), node.input_value(1));
  launch.writes(offsetof(PadParameters, to), node.output_value(0));
  return plan;
}

}  // namespace

KERNEL(pad, plan_pad)

}  // namespace ferrule::cuda
