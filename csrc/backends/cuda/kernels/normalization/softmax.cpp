// Softmax and its logarithm along the last axis.
#include "kernels/normalization/softmax.h"

#include <ferrule/ops.h>

#include "kernels/normalization/row_plan.h"

namespace ferrule::cuda {
namespace {

static_assert(sizeof(fe_softmax_attributes) == sizeof(fe_log_softmax_attributes));

Plan plan_softmax(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (!x.is("float32") && !is_half(x)) return refusal("it computes in float32");
  if (x.rank() == 0 || node.attributes<fe_softmax_attributes>().axis != x.rank() - 1)
    return refusal("the axis is not the last one");
  if (x.count() == 0) return plan_named("softmax");
  const RowPlan rows = plan_rows("softmax", x, capabilities);
  const SoftmaxParameters p = {.row = rows.parameters, .is_logarithm = node.op() == "log_softmax" ? 1u : 0u};
  Plan plan = plan_named(rows.kernel);
  Launch& launch = plan.launches.emplace_back(launch_of(rows.kernel, p, rows.blocks, rows.threads, rows.shared_memory));
  launch.reads(offsetof(SoftmaxParameters, row.x), node.input_value(0));
  launch.writes(offsetof(SoftmaxParameters, row.to), node.output_value(0));
  return plan;
}

}  // namespace

KERNEL(softmax, plan_softmax)
KERNEL(log_softmax, plan_softmax)

}  // namespace ferrule::cuda
