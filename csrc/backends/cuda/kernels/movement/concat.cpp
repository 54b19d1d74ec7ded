// Joins arrays along an axis, with one copy per array.
#include <ferrule/ops.h>

#include "kernels/planning.h"
#include "strided_copy_launch.h"

namespace ferrule::cuda {
namespace {

Plan plan_concat(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand out = node.output(0);
  const auto axis = static_cast<size_t>(node.attributes<fe_concat_attributes>().axis);
  if (out.dtype_info().block_elements != 1) return refusal("it joins no blocks");
  const ItemLayout to = items_of(out);
  Plan plan;
  uint64_t start = 0;  // of the array in the result, in bytes
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    const sdk::Operand x = node.input(i);
    if (x.dtype() != out.dtype()) return refusal("the arrays differ in dtype");
    StridedCopyParameters p = strided_copy(items_of(x), to.strides, out.item_size());
    p.to_offset = start;
    p.alignment |= start;
    add_strided_copy(plan, p, node.input_value(i), node.output_value(0), capabilities);
    start += static_cast<uint64_t>(x.shape()[axis] * to.strides[axis]) * out.item_size();
  }
  return plan;
}

}  // namespace

KERNEL(concat, plan_concat)

}  // namespace ferrule::cuda
