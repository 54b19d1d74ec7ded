// Softmax and its logarithm along the last axis.
#include <ferrule/ops.h>

#include "kernels/normalization/row_plan.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout rows;
  uint64_t row_count, width;
  int64_t stride;
};

static_assert(sizeof(fe_softmax_attributes) == sizeof(fe_log_softmax_attributes));

Plan plan_softmax(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (!computes_in_float(x)) return refusal("it computes in float32");
  if (x.rank() == 0 || node.attributes<fe_softmax_attributes>().axis != x.rank() - 1)
    return refusal("the axis is not the last one");
  Plan plan = plan_named("softmax");
  if (x.count() == 0) return plan;
  const int64_t width = x.shape().back();
  const Parameters p = {.rows = rows_of(x),
                        .row_count = static_cast<uint64_t>(x.count() / width),
                        .width = static_cast<uint64_t>(width),
                        .stride = x.strides().back()};
  plan.launches.push_back(
      rows_dispatch(node, "softmax", definition("LOGARITHM", node.op() == "log_softmax"), p, {node.input_value(0)}));
  return plan;
}

}  // namespace

KERNEL(softmax, plan_softmax)
KERNEL(log_softmax, plan_softmax)

}  // namespace ferrule::metal
