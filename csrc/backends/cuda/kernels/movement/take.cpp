// Elements at indices along an axis.
#include <ferrule/cpp/block_items.hpp>
#include <ferrule/ops.h>

#include "graphs/layout.h"
#include "kernels/movement/take.h"
#include "kernels/planning.h"
#include "strided_copy_launch.h"

namespace ferrule::cuda {
namespace {

int64_t product(std::span<const int64_t> sizes) {
  int64_t result = 1;
  for (const int64_t size : sizes) result *= size;
  return result;
}

Plan plan_take(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), indices = node.input(1), out = node.output(0);
  if (x.dtype() != out.dtype()) return refusal("the operands differ in dtype");
  if (!indices.is("int32") && !indices.is("int64")) return refusal("the indices are neither int32 nor int64");
  Plan plan = plan_named("take.bytes");
  if (x.dtype_info().block_elements != 1) plan.support.row_inputs = {0};
  if (out.count() == 0) return plan;

  const int64_t axis = node.attributes<fe_take_attributes>().axis;
  const auto at = static_cast<size_t>(axis), rank = static_cast<size_t>(x.rank());
  const bool is_block = x.dtype_info().block_elements != 1;
  sdk::BlockItems items(x, x.dtype_info().block_bytes);
  const auto item = is_block ? 1 : static_cast<int64_t>(x.item_size());
  for (int64_t& stride : items.strides) stride *= item;
  const std::span<const int64_t> shape = items.shape, steps = items.strides;  // in bytes
  // The last axes whose bytes are adjacent are the run.
  size_t run_axis = rank;
  int64_t run = item;
  for (; run_axis > at + 1 && (shape[run_axis - 1] == 1 || steps[run_axis - 1] == run); --run_axis)
    run *= shape[run_axis - 1];

  TakeParameters p{};
  p.outer = layout_of(shape.first(at), steps.first(at));
  p.inner = layout_of(shape.subspan(at + 1, run_axis - at - 1), steps.subspan(at + 1, run_axis - at - 1));
  p.places = layout_of(indices);
  p.outer_count = static_cast<uint64_t>(product(shape.first(at)));
  p.inner_count = static_cast<uint64_t>(product(shape.subspan(at + 1, run_axis - at - 1)));
  p.place_count = static_cast<uint64_t>(indices.count());
  p.run_bytes = p.alignment = static_cast<uint64_t>(run);
  for (size_t k = 0; k < run_axis; ++k)
    if (shape[k] != 1) p.alignment |= static_cast<uint64_t>(steps[k]);
  p.size = shape[at];
  p.stride = steps[at];
  p.axis = axis;
  p.index_bytes = static_cast<uint32_t>(indices.item_size());
  p.op = node.id();
  const uint64_t bytes = p.outer_count * p.place_count * p.inner_count * p.run_bytes;
  Launch& launch = plan.launches.emplace_back(
      launch_of(plan.support.kernel, p, copying_blocks(bytes, p.alignment, capabilities), copying_threads));
  launch.reads(offsetof(TakeParameters, from), node.input_value(0));
  launch.reads(offsetof(TakeParameters, indices), node.input_value(1));
  launch.writes(offsetof(TakeParameters, to), node.output_value(0));
  launch.reports_faults(offsetof(TakeParameters, fault));
  return plan;
}

}  // namespace

KERNEL(take, plan_take)

}  // namespace ferrule::cuda
