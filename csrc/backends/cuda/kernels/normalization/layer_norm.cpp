// Layer normalization and root-mean-square normalization over the last axis.
#include "kernels/normalization/layer_norm.h"

#include <ferrule/ops.h>

#include "kernels/normalization/row_plan.h"

namespace ferrule::cuda {
namespace {

Plan plan_norm(const std::string& name, const PlannedNode& node, double epsilon, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (!x.is("float32") && !is_half(x)) return refusal("it computes in float32");
  for (uint32_t i = 1; i < node.input_count(); ++i)
    if (node.input(i).dtype() != x.dtype()) return refusal("the operands differ in dtype");
  if (x.count() == 0) return plan_named(name);
  const RowPlan rows = plan_rows(name, x, capabilities);
  const bool has_weight = node.input_count() > 1, has_bias = node.input_count() > 2;
  const LayerNormParameters p = {.row = rows.parameters,
                                 .weight = 0,
                                 .bias = 0,
                                 .weight_stride = has_weight ? node.input(1).strides().back() : 0,
                                 .bias_stride = has_bias ? node.input(2).strides().back() : 0,
                                 .has_weight = has_weight ? 1u : 0u,
                                 .has_bias = has_bias ? 1u : 0u,
                                 .epsilon = static_cast<float>(epsilon)};
  Plan plan = plan_named(rows.kernel);
  Launch& launch = plan.launches.emplace_back(launch_of(rows.kernel, p, rows.blocks, rows.threads, rows.shared_memory));
  launch.reads(offsetof(LayerNormParameters, row.x), node.input_value(0));
  if (has_weight) launch.reads(offsetof(LayerNormParameters, weight), node.input_value(1));
  if (has_bias) launch.reads(offsetof(LayerNormParameters, bias), node.input_value(2));
  launch.writes(offsetof(LayerNormParameters, row.to), node.output_value(0));
  return plan;
}

Plan plan_layer_norm(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_norm("layer_norm", node, node.attributes<fe_layer_norm_attributes>().epsilon, capabilities);
}
Plan plan_rms_norm(const PlannedNode& node, const Capabilities& capabilities) {
  return plan_norm("rms_norm", node, node.attributes<fe_rms_norm_attributes>().epsilon, capabilities);
}

}  // namespace

KERNEL(layer_norm, plan_layer_norm)
KERNEL(rms_norm, plan_rms_norm)

}  // namespace ferrule::cuda
