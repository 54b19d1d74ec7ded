// Layer normalisation and root-mean-square normalisation over the last axis.
#include <ferrule/ops.h>

#include "../row_teams.h"

namespace ferrule::vulkan {
namespace {

struct Parameters {
  Layout rows;
  int64_t row_count, width, stride, weight_stride, bias_stride;
  uint32_t weight, bias, to;
  float epsilon;
  uint32_t is_centered, unused;
};
static_assert(sizeof(Parameters) == sizeof(Layout) + 64);
constexpr uint32_t no_value = UINT32_MAX;

Plan plan_norm(const PlannedNode& node, const Capabilities& capabilities, double epsilon, bool is_centered) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (!x.is("float32") && !is_half(x)) return refusal("it computes in float32");
  for (uint32_t i = 1; i < node.input_count(); ++i)
    if (node.input(i).dtype() != x.dtype()) return refusal("the operands differ in dtype");
  Plan plan = plan_named("layer_norm." + abbreviation_of(x));
  if (x.count() == 0) return plan;
  const int64_t width = x.shape().back();
  Parameters p = {.rows = rows_of(node.input_value(0), x),
                  .row_count = x.count() / width,
                  .width = width,
                  .stride = x.strides().back(),
                  .weight_stride = 0,
                  .bias_stride = 0,
                  .weight = no_value,
                  .bias = no_value,
                  .to = node.output_value(0),
                  .epsilon = static_cast<float>(epsilon),
                  .is_centered = is_centered ? 1u : 0u,
                  .unused = 0};
  std::vector<uint32_t> reads = {p.rows.value};
  if (node.input_count() > 1) {
    reads.push_back(p.weight = node.input_value(1));
    p.weight_stride = node.input(1).strides().back();
  }
  if (node.input_count() > 2) {
    reads.push_back(p.bias = node.input_value(2));
    p.bias_stride = node.input(2).strides().back();
  }
  const uint32_t team = team_of(width, capabilities);
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, std::move(reads), p.to, {team}));
  set_team_grid(plan, p.row_count, team, capabilities);
  return plan;
}

Plan plan_layer_norm(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_norm(node, capabilities, node.attributes<fe_layer_norm_attributes>().epsilon, true);
}
Plan plan_rms_norm(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_norm(node, capabilities, node.attributes<fe_rms_norm_attributes>().epsilon, false);
}

}  // namespace

KERNEL(layer_norm, plan_layer_norm)
KERNEL(rms_norm, plan_rms_norm)

}  // namespace ferrule::vulkan
