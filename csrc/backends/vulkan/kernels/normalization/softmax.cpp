// Softmax and its logarithm along the last axis.
#include <ferrule/ops.h>

#include "../row_teams.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout rows;
  int64_t row_count, width, stride;
  uint32_t to;
};
static_assert(offsetof(Parameters, to) == sizeof(Layout) + 24);

static_assert(sizeof(fe_softmax_attributes) == sizeof(fe_log_softmax_attributes));

Plan plan_softmax(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (!x.is("float32") && !is_half(x)) return refusal("it computes in float32");
  if (x.rank() == 0 || node.attributes<fe_softmax_attributes>().axis != x.rank() - 1)
    return refusal("the axis is not the last one");
  Plan plan = plan_named("softmax." + abbreviation_of(x));
  if (x.count() == 0) return plan;
  const int64_t width = x.shape().back();
  const Parameters p = {.rows = rows_of(node.input_value(0), x),
                        .row_count = x.count() / width,
                        .width = width,
                        .stride = x.strides().back(),
                        .to = node.output_value(0)};
  const uint32_t team = team_of(width, capabilities), logarithm = node.op() == "log_softmax" ? 1 : 0;
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, {p.rows.value}, p.to, {team, logarithm}));
  set_team_grid(plan, p.row_count, team, capabilities);
  return plan;
}

}  // namespace

KERNEL(softmax, plan_softmax)
KERNEL(log_softmax, plan_softmax)

}  // namespace ferrule::vulkan
