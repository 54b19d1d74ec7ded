// Layer normalisation and root-mean-square normalisation over the last axis.
#include <ferrule/ops.h>

#include "kernels/normalization/row_plan.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout rows;
  uint64_t row_count, width;
  int64_t stride, weight_stride, bias_stride;
  float epsilon;
  uint32_t unused;
};

Plan plan_norm(const PlannedNode& node, double epsilon, bool is_centered) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0);
  if (!computes_in_float(x)) return refusal("it computes in float32");
  for (uint32_t i = 1; i < node.input_count(); ++i)
    if (node.input(i).dtype() != x.dtype()) return refusal("the operands differ in dtype");
  Plan plan = plan_named("layer_norm");
  if (x.count() == 0) return plan;
  const int64_t width = x.shape().back();
  const auto stride_of = [&](uint32_t i) { return node.input_count() > i ? node.input(i).strides().back() : 0; };
  const Parameters p = {.rows = rows_of(x),
                        .row_count = static_cast<uint64_t>(x.count() / width),
                        .width = static_cast<uint64_t>(width),
                        .stride = x.strides().back(),
                        .weight_stride = stride_of(1),
                        .bias_stride = stride_of(2),
                        .epsilon = static_cast<float>(epsilon),
                        .unused = 0};
  std::vector<uint32_t> reads;
  reads.reserve(node.input_count());
  for (uint32_t i = 0; i < node.input_count(); ++i) reads.push_back(node.input_value(i));
  plan.launches.push_back(rows_dispatch(
      node, "layer_norm", definition("IS_CENTERED", is_centered) + definition("INPUTS", reads.size()), p, reads));
  return plan;
}

Plan plan_layer_norm(const PlannedNode& node, const Capabilities&) {
  return plan_norm(node, node.attributes<fe_layer_norm_attributes>().epsilon, true);
}
Plan plan_rms_norm(const PlannedNode& node, const Capabilities&) {
  return plan_norm(node, node.attributes<fe_rms_norm_attributes>().epsilon, false);
}

}  // namespace

KERNEL(layer_norm, plan_layer_norm)
KERNEL(rms_norm, plan_rms_norm)

}  // namespace ferrule::metal
