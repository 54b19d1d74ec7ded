// Conversion between dtypes: from and to blocks, and as an elementwise op.
#include "kernels/block_formats.h"
#include "kernels/elementwise_plan.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout blocks;
  uint64_t count;
};

Plan plan_dequantize(const PlannedNode& node) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (!out.is("float32")) return refusal("blocks become float32 alone");
  Plan plan = plan_named("dequantize");
  plan.support.row_inputs = {0};
  constexpr int64_t items = 8;  // as in dequantize.metal
  const Parameters p = {layout_of(sdk::BlockItems(x, 1)), static_cast<uint64_t>(out.count() / items)};
  if (p.count > 0)
    plan.launches.push_back(kernel_dispatch("conversion/dequantize", "dequantize", block_format(x.dtype()), p,
                                            {node.input_value(0)}, {node.output_value(0)}, p.count));
  return plan;
}

Plan plan_quantize(const PlannedNode& node) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (!x.is("float32") || !(out.is("q8_0") || out.is("q4_0"))) return refusal("only float32 becomes q8_0 or q4_0");
  Plan plan = plan_named("quantize");
  plan.support.row_inputs = {0};
  const sdk::ElementGroups groups(x, block_elements(out));
  const Parameters p = {layout_of(groups.shape, groups.strides),
                        static_cast<uint64_t>(x.count() / block_elements(out))};
  const std::string function = "quantize_" + std::string(sdk::host->dtype_name(out.dtype()));
  if (p.count > 0)
    plan.launches.push_back(kernel_dispatch("conversion/quantize", function, "", p, {node.input_value(0)},
                                            {node.output_value(0)}, p.count));
  return plan;
}

Plan plan_astype(const PlannedNode& node, const Capabilities& capabilities) {
  const bool from_blocks = is_block(node.input(0)), to_blocks = is_block(node.output(0));
  if (node.body() != nullptr || from_blocks == to_blocks) return plan_elementwise(node, capabilities);
  return from_blocks ? plan_dequantize(node) : plan_quantize(node);
}

}  // namespace

KERNEL(astype, plan_astype)

}  // namespace ferrule::metal
